// std::condition_variable with a predicate, notify_one; std::condition_variable::wait_for that runs out.
// MODE: golden
// LEVELS: O0 O1 O2 O3
// NATIVE: turn.c
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

#include "turn.h"

static std::mutex m;
static std::condition_variable c;
static bool ready;
static volatile int tid;

int main() {
  std::thread t([] {
    std::unique_lock<std::mutex> g(m);
    auto status = c.wait_for(g, std::chrono::microseconds(1));
    std::printf("%d\n", status == std::cv_status::timeout);
    tid = turn_tid();
    turn_set(1);
    while (!ready) c.wait(g);
    std::printf("ready\n");
  });
  turn_wait(1);
  turn_wait_asleep(tid);
  {
    std::lock_guard<std::mutex> g(m);
    ready = true;
  }
  c.notify_one();
  t.join();
}
