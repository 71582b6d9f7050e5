// Exploration looks once before it waits, where libstdc++ looks sixteen times; loops of the program's own stay as they are.
// RUN: gate GATE
// RUN: record RECORD
namespace std {
namespace __detail {
template <class P> bool __atomic_spin(P &look) noexcept {
  for (auto i = 0; i < 16; ++i)
    if (look()) return true;
  return false;
}
} // namespace __detail
} // namespace std
int looks, done;
bool standard() {
  auto look = [] { return ++looks > 3; };
  return std::__detail::__atomic_spin(look);
}
bool own() {
  for (auto i = 0; i < 16; ++i)
    if (++done > 3) return true;
  return false;
}
// GATE:   define{{.*}} @"_ZNSt8__detail13__atomic_spinI
// GATE:   icmp slt i32 %{{.*}}, 1,
// GATE:   define{{.*}} @_Z3ownv(
// GATE:   icmp slt i32 %{{.*}}, 16,
// RECORD: define{{.*}} @"_ZNSt8__detail13__atomic_spinI
// RECORD: icmp slt i32 %{{.*}}, 16,
