// jthread: stop requests reach callbacks and waits on a condition_variable_any; its destructor joins.
// MODE: verify
// CHECK: log-order
// FLAGS: -std=c++20
#define SECTIONS 200
#include "order.h"
#include <condition_variable>
#include <mutex>
#include <stop_token>
#include <thread>

int main() {
  for (int i = 0; i < SECTIONS / 4; i++) {
    std::mutex m;
    std::condition_variable_any changed;
    {
      std::jthread worker([&](std::stop_token stop) {
        {
          std::unique_lock hold(m);
          changed.wait(hold, stop, [] { return false; });
        }
        section();
        std::stop_callback at_once(stop, [] { section(); });
      });
      section();
      worker.request_stop();
    }
    section();
  }
  return report(SECTIONS);
}
