// Templates that a library has instances of: a body that was changed stays where it is not inlined; another one does not.
// COMPILE: -O2
// RUN: record RECORD
// RUN: gate GATE
// RUN: plan LOCKED
// PLAN: lock0 _ZN3boxIiE3setEi before n1: acquire X l0
// PLAN: lock0 _ZN3boxIiE3setEi before n2: release l0
template <typename T> struct box {
  T n;
  void set(T v) { n = v; }
  T get() { return n; }
};
extern template struct box<int>;
box<int> b;
int use(int v) {
  b.set(v);
  return b.get();
}
// RECORD-DAG:   define linkonce_odr hidden {{.*}} @_ZN3boxIiE3setEi(
// RECORD-DAG:   define linkonce_odr hidden {{.*}} @_ZN3boxIiE3getEv(
// GATE-DAG:     define linkonce_odr hidden {{.*}} @_ZN3boxIiE3setEi(
// GATE-DAG:     define linkonce_odr hidden {{.*}} @_ZN3boxIiE3getEv(
// LOCKED-DAG:     define linkonce_odr hidden {{.*}} @_ZN3boxIiE3setEi(
// LOCKED-DAG:     define available_externally {{.*}} @_ZN3boxIiE3getEv(
