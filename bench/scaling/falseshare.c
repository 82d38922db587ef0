// Counters of a thread's own. `near`: in one cache line, `apart`: in two lines each.
#include "common.h"

static const char *const USAGE = "falseshare THREADS [near|apart [ITEMS]]";

static int threads, stride;
static long items;
// 128 bytes: lines are fetched in pairs.
static _Alignas(128) volatile uint64_t counters[MOST_THREADS * 16];

static void count(int t, long from, long to) {
  volatile uint64_t *mine = &counters[t * stride];
  for (long i = from; i < to; i++) *mine += random_at(i) & 3;
}

static void body(int t) { count(t, share(items, threads, t), share(items, threads, t + 1)); }

int main(int argc, char **argv) {
  threads = thread_count(argc, argv, USAGE);
  stride = variant(argc, argv, "near", "apart", USAGE) ? 16 : 1;
  items = number(argc, argv, 3, 1, 600000000, USAGE);
  if (threads) team(threads, body);
  else count(0, 0, items);
  uint64_t sum = 0;
  for (int t = 0; t < MOST_THREADS; t++) sum += counters[t * stride];
  printf("%lu\n", sum);
}
