// A small multithreaded client of SQLite: four threads on one database in memory with a shared cache, and on one file, each with
// connections of its own; and one connection that all of them use. Ends with 0 if every row is there.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "sqlite3.h"

enum { THREADS = 4, ROWS = 20 };

static const char *const databases[] = {"file:memory?mode=memory&cache=shared", "client.db"};
static sqlite3 *common;

static void fail(const char *what, sqlite3 *db) {
  fprintf(stderr, "%s: %s\n", what, db ? sqlite3_errmsg(db) : "no connection");
  exit(1);
}

static sqlite3 *open_database(const char *name) {
  sqlite3 *db = NULL;
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI | SQLITE_OPEN_FULLMUTEX;
  if (sqlite3_open_v2(name, &db, flags, NULL) != SQLITE_OK)
    fail(name, db);
  sqlite3_busy_timeout(db, 20000);
  return db;
}

// A shared cache answers with SQLITE_LOCKED, for which no busy handler is called.
static void execute(sqlite3 *db, const char *text) {
  int code;
  while ((code = sqlite3_exec(db, text, NULL, NULL, NULL)) == SQLITE_LOCKED || code == SQLITE_LOCKED_SHAREDCACHE || code == SQLITE_BUSY)
    sqlite3_sleep(1);
  if (code != SQLITE_OK)
    fail(text, db);
}

static int count(sqlite3 *db) {
  sqlite3_stmt *statement = NULL;
  int code, rows = -1;
  while ((code = sqlite3_prepare_v2(db, "SELECT count(*), sum(length(word)) FROM t", -1, &statement, NULL)) != SQLITE_OK)
    sqlite3_sleep(1);
  while ((code = sqlite3_step(statement)) == SQLITE_LOCKED || code == SQLITE_LOCKED_SHAREDCACHE || code == SQLITE_BUSY) {
    sqlite3_reset(statement);
    sqlite3_sleep(1);
  }
  if (code == SQLITE_ROW)
    rows = sqlite3_column_int(statement, 0);
  sqlite3_finalize(statement);
  return rows;
}

static void *work(void *argument) {
  int number = (int)(long)argument;
  sqlite3 *own[2] = {open_database(databases[0]), open_database(databases[1])};
  for (int row = 0; row < ROWS; row++) {
    char text[128];
    snprintf(text, sizeof text, "INSERT INTO t VALUES(%d, 'word %d of thread %d')", number * ROWS + row, row, number);
    execute(own[0], text);
    execute(common, text);
    if (row % 5 == 0)
      execute(own[1], text);
    count(own[row % 2]);
  }
  sqlite3_close(own[0]);
  sqlite3_close(own[1]);
  return NULL;
}

int main(void) {
  remove(databases[1]);
  sqlite3 *first[2] = {open_database(databases[0]), open_database(databases[1])};
  common = open_database(":memory:");
  const char *create = "CREATE TABLE t(id INTEGER PRIMARY KEY, word TEXT)";
  execute(first[0], create);
  execute(first[1], create);
  execute(common, create);
  pthread_t threads[THREADS];
  for (long t = 0; t < THREADS; t++)
    pthread_create(&threads[t], NULL, work, (void *)t);
  for (int t = 0; t < THREADS; t++)
    pthread_join(threads[t], NULL);
  if (count(first[0]) != THREADS * ROWS || count(common) != THREADS * ROWS || count(first[1]) != THREADS * ROWS / 5)
    return 1;
  sqlite3_close(first[0]);
  sqlite3_close(first[1]);
  sqlite3_close(common);
  return 0;
}
