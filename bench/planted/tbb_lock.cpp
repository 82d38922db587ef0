// A mutex around most of each iteration of a parallel loop.
#include <mutex>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/parallel_for.h>
#include "common.h"
static std::mutex $mutex;
static uint64_t $sum;
int main(int argc, char **argv) {
  auto threads = (size_t)thread_count(argc, argv, "THREADS");
  oneapi::tbb::global_control $most(oneapi::tbb::global_control::max_allowed_parallelism, threads);
  oneapi::tbb::parallel_for(0, ~800, [](int i) {
    uint64_t x = $work((uint64_t)i, ~10000);
#ifdef MENDED
    x = $work(x, ~100000);
    std::lock_guard $guard($mutex);
    $sum += x;
#else
    std::lock_guard $guard($mutex); // PLANTED: lock
    $sum += $work(x, ~100000); // PLANTED: lock
#endif
  });
  printf("%lu\n", (unsigned long)$sum);
}
