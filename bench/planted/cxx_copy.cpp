// A large object that is passed by value.
#include <thread>
#include <vector>
#include "common.h"
using $Table = std::vector<uint64_t>;
#ifdef MENDED
static uint64_t __attribute__((noinline)) $lookup(const $Table &$table, uint64_t i) {
#else
static uint64_t __attribute__((noinline)) $lookup($Table $table, uint64_t i) { // PLANTED: copying, allocation, cache
#endif
  return $table[i % $table.size()] + i;
}
static $Table $all(~60000, 7);
static uint64_t $sums[MOST_THREADS][8];
static void $body(int t) {
  for (uint64_t i = 0; i < ~3000; i++) {
    $sums[t][0] += $lookup($all, i); // PLANTED: copying, allocation, cache
    $sums[t][0] += $work(i, ~10000);
  }
}
int main(int argc, char **argv) {
  int threads = thread_count(argc, argv, "THREADS");
  std::vector<std::thread> crew;
  for (int t = 0; t < threads; t++) crew.emplace_back($body, t);
  for (auto &one : crew) one.join();
  printf("%lu\n", (unsigned long)$sums[0][0]);
}
