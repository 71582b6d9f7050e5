// Atomic instructions: bit 8 of the kind, and an update where one step reads and writes.
// RUN: record RECORD
// RUN: extract EXTRACT
#include <stdatomic.h>
atomic_int x;

int all(int expected) {
  atomic_store_explicit(&x, 1, memory_order_release);
  atomic_fetch_add(&x, 2);
  atomic_compare_exchange_strong(&x, &expected, 3);
  atomic_thread_fence(memory_order_seq_cst);
  return atomic_load(&x);
}
// RECORD:      call ptr @__atomfix_record_begin(ptr @x, i32 4, i32 257,
// RECORD-NEXT: store atomic
// RECORD:      call ptr @__atomfix_record_begin(ptr @x, i32 4, i32 258,
// RECORD-NEXT: atomicrmw add
// RECORD-NEXT: call void @__atomfix_record_end(
// RECORD:      call ptr @__atomfix_record_begin(ptr @x, i32 4, i32 258,
// RECORD-NEXT: cmpxchg
// RECORD:      call ptr @__atomfix_record_begin(ptr @x, i32 4, i32 256,
// RECORD-NEXT: load atomic
// EXTRACT:      n1 atomic write x -> n2
// EXTRACT-NEXT: n2 atomic update x -> n3
// EXTRACT-NEXT: n3 atomic update x ->
// EXTRACT:      atomic read x ->
