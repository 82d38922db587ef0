// Futures that all begin before one is asked for.
#include <future>
#include <vector>
#include "common.h"
static uint64_t $piece(int t, uint64_t i) { // PLANTED: nothing
  uint64_t $sum = 0;
  for (int k = 0; k < 1500; k++) $noise(t), $sum += $work(i + (uint64_t)k, ~60000);
  return $sum;
}
int main(int argc, char **argv) {
  int threads = thread_count(argc, argv, "THREADS");
  std::vector<std::future<uint64_t>> all;
  for (int t = 0; t < threads; t++) all.push_back(std::async(std::launch::async, $piece, t, (uint64_t)t));
  uint64_t $sum = 0;
  for (auto &one : all) $sum += one.get();
  printf("%lu\n", (unsigned long)$sum);
}
