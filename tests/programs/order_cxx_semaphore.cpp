// counting_semaphore and binary_semaphore hand a turn back and forth: atomics and futexes in headers.
// MODE: verify
// CHECK: log-order
// FLAGS: -std=c++20
#define SECTIONS 800
#include "order.h"
#include <chrono>
#include <semaphore>
#include <thread>

template <class Semaphore> static void play(bool timed) {
  Semaphore mine(1), yours(0);
  auto side = [&](Semaphore &wait, Semaphore &post) {
    for (int i = 0; i < SECTIONS / 8; i++) {
      if (timed)
        while (!wait.try_acquire_for(std::chrono::milliseconds(50))) {}
      else
        wait.acquire();
      section();
      post.release();
    }
  };
  std::thread other([&] { side(yours, mine); });
  side(mine, yours);
  other.join();
}

int main() {
  play<std::counting_semaphore<10>>(false);
  play<std::counting_semaphore<10>>(true);
  play<std::binary_semaphore>(false);
  play<std::binary_semaphore>(true);
  return report(SECTIONS);
}
