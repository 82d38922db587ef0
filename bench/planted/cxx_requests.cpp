// A thread for each request, however short; the twin has as many threads as processors.
#include <thread>
#include <vector>
#include "common.h"
static uint64_t $sums[MOST_THREADS][8];
static int requests = ~6000;
static void $serve(int t, int from, int to) {
  for (int i = from; i < to; i++) $sums[t][0] += $work((uint64_t)i, ~9000);
}
int main(int argc, char **argv) {
  int threads = thread_count(argc, argv, "THREADS");
#ifdef MENDED
  std::vector<std::thread> all;
  for (int t = 0; t < threads; t++)
    all.emplace_back($serve, t, (int)share(requests, threads, t), (int)share(requests, threads, t + 1));
  for (auto &one : all) one.join();
#else
  for (int i = 0; i < requests; i += threads) {
    std::vector<std::thread> all;
    for (int t = 0; t < threads; t++) all.emplace_back($serve, t, i + t, i + t + 1); // PLANTED: starting, scheduling
    for (auto &one : all) one.join();                                                // PLANTED: starting, scheduling
  }
#endif
  printf("%lu\n", (unsigned long)$sums[0][0]);
}
