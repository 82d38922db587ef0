// Cilksort (work-inflation, section 3.1): merge sort with a parallel merge, sequential below a cut-off.
// 0 threads: quicksort; `elided` in place of the threads: the same program without tasks.
#include "common.h"
#include <algorithm>
#include <omp.h>
#include <vector>

static const char *const USAGE = "cilksort THREADS|elided [SIZE [CUTOFF|CUTOFF/P|CUTOFF/NUMBER [REPEAT]]]";
static long cutoff = 1000;

template <bool Tasks> static void merge(const int *p, long np, const int *q, long nq, int *out) {
  if (np < nq) std::swap(p, q), std::swap(np, nq);
  if (np + nq <= cutoff || nq == 0) {
    std::merge(p, p + np, q, q + nq, out);
    return;
  }
  long mid = np / 2, at = std::lower_bound(q, q + nq, p[mid]) - q;
  if constexpr (Tasks) {
#pragma omp task
    merge<Tasks>(p, mid, q, at, out);
    merge<Tasks>(p + mid, np - mid, q + at, nq - at, out + mid + at);
#pragma omp taskwait
  } else {
    merge<Tasks>(p, mid, q, at, out);
    merge<Tasks>(p + mid, np - mid, q + at, nq - at, out + mid + at);
  }
}

// Sorts a[0..n]; the result goes to `other` if `over`. Both are written.
template <bool Tasks> static void sort(int *a, int *other, long n, bool over) {
  if (n <= cutoff || n < 2) {
    if (over) std::copy(a, a + n, other), a = other;
    std::sort(a, a + n);
    return;
  }
  long h = n / 2;
  if constexpr (Tasks) {
#pragma omp task
    sort<Tasks>(a, other, h, !over);
    sort<Tasks>(a + h, other + h, n - h, !over);
#pragma omp taskwait
  } else {
    sort<Tasks>(a, other, h, !over);
    sort<Tasks>(a + h, other + h, n - h, !over);
  }
  if (!over) std::swap(a, other);
  merge<Tasks>(a, h, a + h, n - h, other);
}

int main(int argc, char **argv) {
  bool elided = argc > 1 && !strcmp(argv[1], "elided");
  int threads = elided ? 0 : thread_count(argc, argv, USAGE);
  long n = number(argc, argv, 2, 1, 5000000, USAGE);
  if (argc > 3) {
    char *end;
    cutoff = strtol(argv[3], &end, 10);
    long by = 1;
    if (*end == '/') by = !strcmp(end, "/P") ? std::max(threads, 1) : strtol(end + 1, &end, 10);
    else if (*end) by = 0;
    if (by < 1 || cutoff < 1) usage(USAGE);
    cutoff = std::max(cutoff / by, 1L);
  }
  long repeat = number(argc, argv, 4, 1, 1, USAGE);
  int team = std::max(threads, 1);
  // Not initialised before the threads that use them do.
  int *a = (int *)malloc(n * sizeof *a), *other = (int *)malloc(n * sizeof *a);
  if (!a || !other) return fprintf(stderr, "no memory for two arrays of %ld\n", n), 1;
  uint64_t sum = 0, wrong = 0;
  for (long r = 0; r < repeat; r++) {
#pragma omp parallel for num_threads(team) if (threads > 1)
    for (long i = 0; i < n; i++) a[i] = (int)(random_at(i + r * n) >> 33);
    if (elided) {
      sort<false>(a, other, n, false);
    } else if (threads == 0) {
      std::sort(a, a + n);
    } else {
#pragma omp parallel num_threads(threads)
#pragma omp single
      sort<true>(a, other, n, false);
    }
#pragma omp parallel for num_threads(team) reduction(+ : sum, wrong) if (threads > 1)
    for (long i = 0; i < n; i++) sum += (uint64_t)a[i] * (i + 1), wrong += i > 0 && a[i - 1] > a[i];
  }
  printf("%lu %016lx\n", wrong, sum);
  free(a), free(other);
  return wrong != 0;
}
