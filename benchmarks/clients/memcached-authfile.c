/* Logs in while the file with the users is loaded again. Both files have the same users, in another order: a valid login must
   be accepted. */
#include <assert.h>
#include <pthread.h>
#include <stdio.h>

#include "authfile.h"

static void save(const char *path, const char *text) {
  FILE *file = fopen(path, "w");
  assert(file && fputs(text, file) >= 0 && fclose(file) == 0);
}

static void *reload(void *unused) {
  assert(authfile_load("users.new") == AUTHFILE_OK);
  return unused;
}

int main(void) {
  save("users.old", "alice:apple\nbob:bread\n");
  save("users.new", "bob:bread\nalice:apple\n");
  assert(authfile_load("users.old") == AUTHFILE_OK);
  pthread_t thread;
  pthread_create(&thread, NULL, reload, NULL);
  int accepted = authfile_check("bob", "bread");
  pthread_join(thread, NULL);
  assert(accepted);
  return 0;
}
