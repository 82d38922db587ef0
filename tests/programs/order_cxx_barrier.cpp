// A std::barrier of three: in each phase one of them has its section, and so has the completion function.
// MODE: verify
// CHECK: log-order
// FLAGS: -std=c++20
#define SECTIONS 400
#include "order.h"
#include <barrier>
#include <thread>
#include <vector>

int main() {
  std::barrier meet(3, []() noexcept { section(); });
  auto side = [&](int me) {
    for (int i = 0; i < SECTIONS / 2; i++) {
      if (i % 3 == me) section();
      meet.arrive_and_wait();
    }
  };
  std::vector<std::thread> others;
  for (int i = 1; i < 3; i++) others.emplace_back(side, i);
  side(0);
  for (auto &t : others) t.join();
  return report(SECTIONS);
}
