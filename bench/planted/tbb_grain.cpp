// Pieces of one element each; the twin lets the library choose.
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include "common.h"
enum { N = 1000000 };
static uint64_t $cells[N];
int main(int argc, char **argv) {
  auto threads = (size_t)thread_count(argc, argv, "THREADS");
  oneapi::tbb::global_control $most(oneapi::tbb::global_control::max_allowed_parallelism, threads);
  using $Range = oneapi::tbb::blocked_range<size_t>;
  auto $body = [](const $Range &range) {
    for (size_t i = range.begin(); i != range.end(); i++) $cells[i] = $work(i, ~30); // PLANTED: scheduling
  };
#ifdef MENDED
  oneapi::tbb::parallel_for($Range(0, N, 10000), $body);
#else
  oneapi::tbb::parallel_for($Range(0, N, 1), $body, oneapi::tbb::simple_partitioner()); // PLANTED: scheduling
#endif
  printf("%lu\n", (unsigned long)$cells[N / 2]);
}
