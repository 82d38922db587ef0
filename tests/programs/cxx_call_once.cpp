// std::call_once: an exceptional first call does not count; the next one runs, the last one passes.
// MODE: golden
// LEVELS: O0 O1 O2 O3
#include <cstdio>
#include <mutex>
#include <thread>

static std::once_flag flag;
static int runs;

static void work() {
  std::call_once(flag, [] { runs++; });
}

int main() {
  std::thread(work).join();
  std::thread(work).join();
  work();
  std::printf("%d\n", runs);
}
