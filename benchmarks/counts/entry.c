/* What programs of suites ask of a model checker, and their entry.

   Enters a program whose `main` has been renamed. Its initial thread ends alone: the suites' own `main` does not wait for the
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

/* An exchange that happens once what it finds compares so with the operand. Here it happens at once, and an assumption follows: executions in
   which it finds the right value are the same ones. */
int __VERIFIER_xchg_await_aint(_Atomic int *variable, int value, int comparison, int operand) {
  int found = __c11_atomic_exchange(variable, value, __ATOMIC_SEQ_CST);
  int greater = found > operand, equal = found == operand;
  __VERIFIER_assume((comparison & 1 && greater) || (comparison & 2 && equal) || (comparison & 4 && !greater && !equal));
  return found;
}

int main(int argc, char **argv) {
  program_main(argc, argv);
  pthread_exit(NULL);
}
