// call_once and static variables: the initialisation comes before every use.
// MODE: verify
// CHECK: log-order
#define SECTIONS 60
#include "order.h"
#include <atomic>
#include <mutex>
#include <thread>

struct Once {
  Once() { section(); }
  int x = 1;
};
template <int N> static Once &get() {
  static Once once;
  return once;
}
template <int N> static void race() {
  std::once_flag flag;
  // Relaxed, which orders nothing: only the initialisation is between the two sections.
  std::atomic<int> first{0};
  auto statics = [&] {
    if (get<N>().x && first.fetch_add(1, std::memory_order_relaxed) == 1) section();
  };
  std::thread a(statics);
  statics();
  a.join();
  first = 0;
  auto calls = [&] {
    std::call_once(flag, section);
    if (first.fetch_add(1, std::memory_order_relaxed) == 1) section();
  };
  std::thread b(calls);
  calls();
  b.join();
  if constexpr (N > 1) race<N - 1>();
}

int main() {
  race<SECTIONS / 4>();
  return report(SECTIONS);
}
