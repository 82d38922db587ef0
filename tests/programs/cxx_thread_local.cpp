// thread_local objects with constructors and destructors, which run instrumented code while a thread ends.
// MODE: golden
// LEVELS: O0 O1 O2 O3
#include <cstdio>
#include <mutex>
#include <thread>

static std::mutex m;
static int destroyed;

struct Counter {
  int n = 0;
  ~Counter() {
    std::lock_guard<std::mutex> g(m);
    destroyed += n;
  }
};
static thread_local Counter counter;

int main() {
  std::thread([] { counter.n += 3; }).join();
  std::thread([] { counter.n += 4; }).join();
  std::printf("%d\n", destroyed);
}
