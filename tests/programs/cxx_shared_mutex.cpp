// std::shared_mutex: shared and unique ownership, tries.
// MODE: golden
// LEVELS: O0 O1 O2 O3
// FLAGS: -std=c++17
#include <cstdio>
#include <mutex>
#include <shared_mutex>
#include <thread>

static std::shared_mutex m;
static int x = 1;

int main() {
  {
    std::shared_lock<std::shared_mutex> g(m);
    std::thread([] {
      bool ok = m.try_lock();
      std::printf("%d\n", ok);
      std::shared_lock<std::shared_mutex> h(m);
      std::printf("%d\n", x);
    }).join();
  }
  std::thread([] {
    std::unique_lock<std::shared_mutex> h(m);
    x = 2;
  }).join();
  std::shared_lock<std::shared_mutex> g(m);
  std::printf("%d\n", x);
}
