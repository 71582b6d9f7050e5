// A local whose address is passed to a call may be shared; accesses to it have one place.
// RUN: record RECORD
// RUN: extract EXTRACT
#include <pthread.h>
void *work(void *);

int main(void) {
  int shared = 0;
  pthread_t thread;
  pthread_create(&thread, 0, work, &shared);
  shared++;
  return shared;
}
// RECORD-LABEL: define {{.*}} @main(
// RECORD:       [[SHARED:%.*]] = alloca i32
// RECORD:       call ptr @__atomfix_record_begin(ptr [[SHARED]], i32 4, i32 1,
// RECORD-NEXT:  store i32 0, ptr [[SHARED]]
// EXTRACT:      n1 write *[[S:s[0-9a-f]+]] -> n2
// EXTRACT-NEXT: n2 call pthread_create Create(*{{.*}}) -> n3
// EXTRACT-NEXT: n3 read *[[S]] -> n4
// EXTRACT-NEXT: n4 write *[[S]] -> n5
// EXTRACT-NEXT: n5 read *[[S]] -> n6
// EXTRACT-NEXT: n6 return
