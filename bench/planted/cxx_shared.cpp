// Readers take a shared mutex for themselves.
#include <map>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <vector>
#include "common.h"
class $Store {
public:
  uint64_t $find(uint64_t key) const {
#ifdef MENDED
    std::shared_lock $guard($mutex);
#else
    std::unique_lock $guard($mutex); // PLANTED: lock
#endif
    return $work(cells.at(key), ~90000); // PLANTED: lock
  }
  std::map<uint64_t, uint64_t> cells;

private:
  mutable std::shared_mutex $mutex;
};
static $Store $store;
static uint64_t $sums[MOST_THREADS][8];
static void $body(int t) {
  for (uint64_t i = 0; i < ~1000; i++) {
    $sums[t][0] += $store.$find(i % 64); // PLANTED: lock
    $noise(t);
  }
}
int main(int argc, char **argv) {
  int threads = thread_count(argc, argv, "THREADS");
  for (uint64_t i = 0; i < 64; i++) $store.cells[i] = i;
  std::vector<std::thread> all;
  for (int t = 0; t < threads; t++) all.emplace_back($body, t);
  for (auto &one : all) one.join();
  printf("%lu\n", (unsigned long)$sums[0][0]);
}
