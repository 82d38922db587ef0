// std::mutex, recursive_mutex, timed_mutex with their guards, in one thread after another.
// MODE: golden
// LEVELS: O0 O1 O2 O3
#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>

static std::mutex m;
static std::recursive_mutex r;
static std::timed_mutex t;
static int x;

static void work() {
  {
    std::lock_guard<std::mutex> g(m);
    x++;
  }
  {
    std::unique_lock<std::recursive_mutex> g(r), h(r);
    x++;
  }
  if (t.try_lock_for(std::chrono::seconds(1000))) {
    x++;
    t.unlock();
  }
}

int main() {
  std::thread a(work);
  a.join();
  std::thread b(work);
  b.join();
  std::printf("%d\n", x);
}
