// Phases of a few microseconds that end at a barrier of the library.
#include <barrier>
#include <thread>
#include <vector>
#include "common.h"
static uint64_t $sums[MOST_THREADS][8];
static void $body(std::barrier<> *$line, int t) {
#ifdef MENDED
  const int steps = 10, rounds = ~5000 * 800;
#else
  const int steps = 8000, rounds = ~5000;
#endif
  for (int i = 0; i < steps; i++) {
    $sums[t][0] += $work((uint64_t)i, rounds);
    $line->arrive_and_wait(); // PLANTED: barrier
  }
}
int main(int argc, char **argv) {
  int threads = thread_count(argc, argv, "THREADS");
  std::barrier<> $line(threads);
  std::vector<std::jthread> all;
  for (int t = 0; t < threads; t++) all.emplace_back($body, &$line, t);
  all.clear();
  printf("%lu\n", (unsigned long)$sums[0][0]);
}
