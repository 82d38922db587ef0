// condition_variable and condition_variable_any, with and without time limits, hand a turn back and forth.
// MODE: verify
// CHECK: log-order
#define SECTIONS 1600
#include "order.h"
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <shared_mutex>
#include <thread>

template <class Condition, class Mutex> static void play(bool timed) {
  Condition changed;
  Mutex m;
  int turn = 0;
  auto side = [&](int me) {
    for (int i = 0; i < SECTIONS / 8; i++) {
      std::unique_lock hold(m);
      if (timed)
        while (!changed.wait_for(hold, std::chrono::milliseconds(50), [&] { return turn == me; })) {}
      else
        changed.wait(hold, [&] { return turn == me; });
      section();
      turn = !me;
      changed.notify_all();
    }
  };
  std::thread other(side, 1);
  side(0);
  other.join();
}

int main() {
  play<std::condition_variable, std::mutex>(false);
  play<std::condition_variable, std::mutex>(true);
  play<std::condition_variable_any, std::recursive_mutex>(false);
  play<std::condition_variable_any, std::shared_mutex>(true);
  return report(SECTIONS);
}
