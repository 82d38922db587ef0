// Futures whose value is asked for at once: one at a time.
#include <future>
#include <vector>
#include "common.h"
static uint64_t $piece(uint64_t i) { return $work(i, ~4000000); } // PLANTED: serial
int main(int argc, char **argv) {
  int threads = thread_count(argc, argv, "THREADS");
  uint64_t $sum = 0;
  for (uint64_t i = 0; i < 32; i += (uint64_t)threads) {
#ifdef MENDED
    std::vector<std::future<uint64_t>> all;
    for (int t = 0; t < threads; t++) all.push_back(std::async(std::launch::async, $piece, i + (uint64_t)t));
    for (auto &one : all) $sum += one.get();
#else
    for (int t = 0; t < threads; t++)
      $sum += std::async(std::launch::async, $piece, i + (uint64_t)t).get(); // PLANTED: serial
#endif
  }
  printf("%lu\n", (unsigned long)$sum);
}
