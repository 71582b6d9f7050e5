// Raw system calls wait unless their numbers say otherwise: of futex operations, those that wake do not.
// RUN: extract EXTRACT
long syscall(long number, ...);
int word;
void all(long number) {
  syscall(202, &word, 128, 0, 0);
  syscall(202, &word, 129, 1);
  syscall(186);
  syscall(number);
}
// EXTRACT:      call syscall blocks on Peer
// EXTRACT-NEXT: call syscall ->
// EXTRACT-NEXT: call syscall ->
// EXTRACT-NEXT: call syscall blocks on Peer
