// Memory is asked for and given back in the innermost loop.
#include <memory>
#include <thread>
#include <vector>
#include "common.h"
static uint64_t $sums[MOST_THREADS][8];
static void $body(int t) {
#ifdef MENDED
  std::vector<uint64_t> $cells(24);
#endif
  for (int i = 0; i < ~600000; i++) {
#ifndef MENDED
    std::vector<uint64_t> $cells(24 + (size_t)(i % 3)); // PLANTED: allocation
    asm volatile("" : : "r"($cells.data()) : "memory");
#endif
    for (size_t k = 0; k < 24; k++) $cells[k] = (uint64_t)i + k;
    $sums[t][0] += $cells[(size_t)i % 24];
  }
}
int main(int argc, char **argv) {
  int threads = thread_count(argc, argv, "THREADS");
  std::vector<std::thread> all;
  for (int t = 0; t < threads; t++) all.emplace_back($body, t);
  for (auto &one : all) one.join();
  printf("%lu\n", (unsigned long)$sums[0][0]);
}
