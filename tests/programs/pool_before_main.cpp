// A thread pool made by a constructor of a global variable, before main, which serves main and is joined after it.
// MODE: verify
// CHECK: log-order
// COUNT: thread_create 2
// COUNT: thread_join 2
#define SECTIONS 200
#include "order.h"
#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class Pool {
  std::mutex m;
  std::condition_variable changed, idle;
  std::deque<std::function<void()>> jobs;
  bool over = false;
  int open = 0;
  std::vector<std::thread> threads;

  void serve() {
    std::unique_lock hold(m);
    for (;;) {
      changed.wait(hold, [&] { return over || !jobs.empty(); });
      if (jobs.empty()) return;
      auto job = std::move(jobs.front());
      jobs.pop_front();
      hold.unlock();
      job();
      hold.lock();
      if (--open == 0) idle.notify_all();
    }
  }

public:
  Pool() {
    for (int i = 0; i < 2; i++) threads.emplace_back([this] { serve(); });
  }
  void run(std::function<void()> job) {
    std::lock_guard hold(m);
    open++;
    jobs.push_back(std::move(job));
    changed.notify_one();
  }
  void wait() {
    std::unique_lock hold(m);
    idle.wait(hold, [&] { return open == 0; });
  }
  ~Pool() {
    {
      std::lock_guard hold(m);
      over = true;
      changed.notify_all();
    }
    for (auto &t : threads) t.join();
  }
};

static Pool pool;

int main() {
  for (int i = 0; i < SECTIONS / 2; i++) {
    section();
    pool.run(section);
    pool.wait();
  }
  return report(SECTIONS);
}
