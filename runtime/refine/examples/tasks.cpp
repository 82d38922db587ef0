// Partition refinement around OpenMP tasks in C++: one worker makes the parts, which is scheduling, too.
#include <contech/refine.h>
#include <algorithm>
#include <cstdio>
#include <omp.h>

static constexpr uint64_t ROWS = 2000;

// The work of a row: longer, the earlier it is.
static uint64_t row(uint64_t i) {
  uint64_t x = i;
  for (uint64_t k = i; k < ROWS; k++) x = (x ^ k) * 0x9e3779b97f4a7c15u;
  return x;
}

static uint32_t worker() { return static_cast<uint32_t>(omp_get_thread_num()); }

int main() {
  contech::refinement refinement(ROWS, static_cast<uint32_t>(omp_get_max_threads()), 1);
  uint64_t sum = 0;
  for (int number = 0; number < 100; number++) {
    contech::refinement::round round(refinement);
    const uint64_t size = round.size();
#pragma omp parallel
#pragma omp single
    {
      contech::refinement::dispatch making(refinement, worker());
      for (uint64_t from = 0; from < ROWS; from += size) {
#pragma omp task shared(sum, refinement) firstprivate(from)
        {
          contech::refinement::part part(refinement, worker());
          uint64_t own = 0;
          for (uint64_t i = from; i < std::min(from + size, ROWS); i++) own += row(i);
#pragma omp atomic
          sum += own;
        }
      }
    }
  }
  std::fprintf(stderr, "parts of %lu, %s\n", static_cast<unsigned long>(refinement.size()),
               refinement.holds() ? "holds" : "still seeking");
  std::printf("%016lx\n", static_cast<unsigned long>(sum));
}
