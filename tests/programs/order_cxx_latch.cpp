// A latch: what is done before counting down comes before what follows the wait.
// MODE: verify
// CHECK: log-order
// FLAGS: -std=c++20
#define SECTIONS 100
#include "order.h"
#include <latch>
#include <thread>

int main() {
  for (int i = 0; i < SECTIONS / 2; i++) {
    std::latch begun(1), done(1);
    std::thread other([&] {
      begun.wait();
      section();
      done.count_down();
    });
    section();
    begun.count_down();
    done.wait();
    other.join();
  }
  return report(SECTIONS);
}
