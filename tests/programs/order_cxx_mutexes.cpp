// Every kind of mutex of C++ in the hands of two threads: mutex, recursive (nested), timed (tries that fail among
// them), shared ones held alone, two at once.
// MODE: verify
// CHECK: log-order
#define SECTIONS 1600
#include "order.h"
#include <chrono>
#include <mutex>
#include <shared_mutex>
#include <thread>

using namespace std::chrono_literals;
static constexpr int each = SECTIONS / 16;

template <class F> static void two(F body) {
  std::thread a([&] {
    for (int i = 0; i < each; i++) body();
  });
  std::thread b([&] {
    for (int i = 0; i < each; i++) body();
  });
  a.join();
  b.join();
}

template <class M> static void timed(M &m) {
  two([&] {
    while (!m.try_lock_for(1ms)) {}
    section();
    m.unlock();
  });
}

int main() {
  std::mutex plain, other;
  std::recursive_mutex recursive;
  std::timed_mutex timed_mutex;
  std::recursive_timed_mutex recursive_timed;
  std::shared_mutex shared;
  std::shared_timed_mutex shared_timed;
  two([&] {
    std::lock_guard hold(plain);
    section();
  });
  two([&] {
    std::lock_guard hold(recursive);
    std::lock_guard again(recursive);
    section();
  });
  timed(timed_mutex);
  timed(recursive_timed);
  timed(shared_timed);
  two([&] {
    std::unique_lock hold(shared, std::defer_lock);
    while (!hold.try_lock()) std::this_thread::yield();
    section();
  });
  two([&] {
    { std::shared_lock look(shared); }
    std::unique_lock hold(shared);
    section();
  });
  two([&] {
    std::scoped_lock hold(other, plain);
    section();
  });
  return report(SECTIONS);
}
