// Very many short phases between barriers (deconstructing-overhead, section VI). `yield`: pthread_barrier, whose waiters
// give up the processor. `spin`: they do not.
#include "common.h"
#include <sched.h>
#include <stdatomic.h>

static const char *const USAGE = "barriers THREADS [yield|spin [PHASES [CELLS]]]";

// A waiter whose partner has no processor (more threads than cores) gives its own up after so many looks, about 0.2 ms.
enum { PATIENCE = 1 << 14 };

static int threads, spin;
static long phases, cells;
static uint32_t *line[2];
static pthread_barrier_t barrier;
static _Alignas(64) atomic_int arrived;
static _Alignas(64) atomic_uint generation;

static void spin_wait(void) {
  unsigned mine = atomic_load_explicit(&generation, memory_order_relaxed);
  if (atomic_fetch_add_explicit(&arrived, 1, memory_order_acq_rel) == threads - 1) {
    atomic_store_explicit(&arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&generation, mine + 1, memory_order_release);
    return;
  }
  for (int looks = 0; atomic_load_explicit(&generation, memory_order_acquire) == mine; looks++) {
    if (looks < PATIENCE) __builtin_ia32_pause();
    else sched_yield();
  }
}

static void phase(long p, long from, long to) {
  const uint32_t *a = line[p & 1];
  uint32_t *b = line[~p & 1];
  for (long i = from; i < to; i++) b[i] = (a[i - 1] + 2 * a[i] + a[i + 1]) / 4 + (uint32_t)(p & 1);
}

static void body(int t) {
  long from = 1 + share(cells, threads, t), to = 1 + share(cells, threads, t + 1);
  for (long p = 0; p < phases; p++) {
    phase(p, from, to);
    if (spin) spin_wait();
    else pthread_barrier_wait(&barrier);
  }
}

int main(int argc, char **argv) {
  threads = thread_count(argc, argv, USAGE);
  spin = variant(argc, argv, "yield", "spin", USAGE);
  phases = number(argc, argv, 3, 1, 200000, USAGE);
  cells = number(argc, argv, 4, 1, 8192, USAGE);
  for (int i = 0; i < 2; i++)
    if (!(line[i] = calloc(cells + 2, sizeof *line[i]))) return fprintf(stderr, "no memory for %ld cells\n", cells), 1;
  for (long i = 1; i <= cells; i++) line[0][i] = (uint32_t)(random_at(i) & 0xfffffff);
  if (threads) {
    pthread_barrier_init(&barrier, NULL, threads);
    team(threads, body);
    pthread_barrier_destroy(&barrier);
  } else {
    for (long p = 0; p < phases; p++) phase(p, 1, cells + 1);
  }
  uint64_t sum = 0;
  for (long i = 1; i <= cells; i++) sum += (uint64_t)line[phases & 1][i] * (i % 5 + 1);
  printf("%016lx\n", sum);
}
