// Loops that end by counting, whatever memory holds, and loops that only look so.
// COMPILE: -O1
// RUN: extract CHECK
extern int limit, flag, table[];
extern volatile int watched;
extern _Atomic int shared;
struct queue { int length; int *first; };
void use(int);
int more(void);

// CHECK-LABEL: function up
// CHECK: counts from n[[STEP:[0-9]+]] to n[[HEADER:[0-9]+]], until n[[TEST:[0-9]+]] -> n
void up(void) { for (int i = 0; i < limit; i++) use(table[i]); }

// CHECK-LABEL: function down
// CHECK: counts from
void down(struct queue *q) { for (int i = q->length; i > 0; --i) use(i); }

// CHECK-LABEL: function pointers
// CHECK: counts from
void pointers(struct queue *q) { for (int *p = q->first; p != q->first + q->length; p++) use(*p); }

// CHECK-LABEL: function after
// CHECK: counts from
void after(void) { int i = 0; do use(table[i]); while (++i < limit); }

// CHECK-LABEL: function by_two
// CHECK: counts from
void by_two(unsigned char n) { for (unsigned char i = 0; i <= n; i += 2) { if (flag) continue; use(i); } }

// CHECK-LABEL: function till_zero
// CHECK: counts from
void till_zero(int n) { while (n--) use(n); }

// CHECK-LABEL: function two_steps
// CHECK: counts from
void two_steps(int n) { for (int i = 0; i < n;) { if (flag) i += 2; else i++; } }

// CHECK-LABEL: function either_way
// CHECK: counts from
// CHECK: counts from
void either_way(int n) { for (int i = 0; i < n && more(); i++) for (int k = n; k > i; k--) use(k); }

// CHECK-LABEL: function found
// CHECK: counts from
int found(int n) { int i = 0; while (i < n && flag && table[i] != n) i++; return i; }

// CHECK-LABEL: function one_of_two
// CHECK-NOT: counts
void one_of_two(int n) { for (int i = 0; i < n || flag; i++) use(i); }

// What only waits for memory.
// CHECK-LABEL: function waits
// CHECK-NOT: counts
void waits(void) { while (!flag) use(0); }

// CHECK-LABEL: function stands
// CHECK-NOT: counts
void stands(int n) { for (int i = 0; i < n;) if (flag) i++; }

// CHECK-LABEL: function begins_anew
// CHECK-NOT: counts
void begins_anew(int n) { for (int i = 0; i < n;) i = flag ? i + 1 : 0; }

// CHECK-LABEL: function wrong_way
// CHECK-NOT: counts
void wrong_way(int n) { for (int i = 0; i < n; i--) use(i); }

// CHECK-LABEL: function stays_equal
// CHECK-NOT: counts
void stays_equal(int n) { for (int i = 0; i == n; i++) use(i); }

// CHECK-LABEL: function back_and_forth
// CHECK-NOT: counts
void back_and_forth(int n) { for (int i = 0; i < n;) i += flag ? 1 : -1; }

// CHECK-LABEL: function moving_bound
// CHECK-NOT: counts
void moving_bound(int n) { for (int i = 0; i < n; i++) n++; }

// CHECK-LABEL: function computed
// CHECK-NOT: counts
void computed(int n) { for (int i = 0; i < n; i += n) use(i); }

// CHECK-LABEL: function watches
// CHECK-NOT: counts
void watches(void) { for (int i = 0; i != watched; i++) use(i); }

// CHECK-LABEL: function loads_atomically
// CHECK-NOT: counts
void loads_atomically(void) { for (int i = 0; i < shared; i++) use(i); }

// CHECK-LABEL: function called_bound
// CHECK-NOT: counts
void called_bound(void) { for (int i = 0; i < more(); i++) use(i); }

// CHECK-LABEL: function list
// CHECK-NOT: counts
struct node { struct node *next; };
void list(struct node *n) { for (; n; n = n->next) use(0); }
