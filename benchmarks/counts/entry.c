/* Enters a program whose `main` has been renamed. Its initial thread ends alone: the suites' own `main` does not wait for the
   threads that it creates, and model checkers let them run to their ends. */
#include <pthread.h>
#include <semaphore.h>

int program_main(int argc, char **argv);

void __VERIFIER_assume(int condition) {
  if (!condition) {
    sem_t never;
    sem_init(&never, 0, 0);
    sem_wait(&never);
  }
}

int main(int argc, char **argv) {
  program_main(argc, argv);
  pthread_exit(NULL);
}
