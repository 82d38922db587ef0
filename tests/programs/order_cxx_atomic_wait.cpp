// std::atomic and atomic_flag: wait and notify hand a turn back and forth, through futexes and through the table of
// waiters that types of other sizes share.
// MODE: verify
// CHECK: log-order
// FLAGS: -std=c++20
#define SECTIONS 800
#include "order.h"
#include <atomic>
#include <thread>

template <class T> static void play() {
  std::atomic<T> turn{0};
  auto side = [&](T me) {
    for (int i = 0; i < SECTIONS / 8; i++) {
      turn.wait(T(!me));
      section();
      turn.store(T(!me));
      turn.notify_one();
    }
  };
  std::thread other(side, T(1));
  side(T(0));
  other.join();
}

int main() {
  play<int>();
  play<long>();
  play<char>();
  std::atomic_flag turn;
  auto side = [&](bool me) {
    for (int i = 0; i < SECTIONS / 8; i++) {
      turn.wait(!me);
      section();
      if (me)
        turn.clear();
      else
        turn.test_and_set();
      turn.notify_all();
    }
  };
  std::thread other(side, true);
  side(false);
  other.join();
  return report(SECTIONS);
}
