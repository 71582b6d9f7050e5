// Exploration is told when a thread is in a function of the library that takes several locks by trying and backing off: to its end, by return
// or by exception. Functions of the program's own that are called so are none, nor are those that try once.
// RUN: gate GATE
// RUN: record RECORD
struct mutex {
  void lock();
  bool try_lock();
  void unlock();
};
namespace std {
template <class A, class B> int try_lock(A &a, B &b) {
  if (!a.try_lock()) return 0;
  if (b.try_lock()) return -1;
  a.unlock();
  return 1;
}
template <class A, class B> void lock(A &a, B &b) {
  for (;;) {
    a.lock();
    if (b.try_lock()) return;
    a.unlock();
  }
}
} // namespace std
template <class A, class B> void lock(A &a, B &b) {
  a.lock();
  b.lock();
}
void all(mutex &a, mutex &b) {
  std::lock(a, b);
  ::lock(a, b);
  std::try_lock(a, b);
}
// GATE-NOT:     __atomfix_gate_locks
// GATE:         define{{.*}} @_ZSt4lockI
// GATE:         call void @__atomfix_gate_locks_begin(ptr [[FRAME:%.*]])
// GATE:         invoke void @_ZN5mutex4lockEv(
// GATE:         call void @__atomfix_gate_locks_end(ptr [[FRAME]])
// GATE:         ret void
// GATE:         call void @__atomfix_gate_locks_end(ptr [[FRAME]])
// GATE-NEXT:    resume
// GATE:         define{{.*}} @_Z4lockI
// GATE-NOT:     call void @__atomfix_gate_locks
// GATE:         define{{.*}} @_ZSt8try_lockI
// GATE-NOT:     call void @__atomfix_gate_locks
// RECORD-NOT:   __atomfix_gate_locks
