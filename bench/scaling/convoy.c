// Threads that queue for a lock. `one`: a lock for the whole table, `sharded`: one for every 64th of it.
#include "common.h"

static const char *const USAGE = "convoy THREADS [one|sharded [UPDATES]]";

enum { SLOTS = 1 << 14, SHARDS = 64 };
static int threads, shards;
static long updates;
static uint64_t table[SLOTS];
static struct {
  _Alignas(64) pthread_mutex_t mutex;
} locks[SHARDS];

static void update(long i) {
  uint64_t x = random_at(i);
  long slot = (long)(x % SLOTS);
  pthread_mutex_t *mutex = &locks[slot % shards].mutex;
  if (threads) pthread_mutex_lock(mutex);
  table[slot] += work(x, 40);
  if (threads) pthread_mutex_unlock(mutex);
}

static void body(int t) {
  for (long i = share(updates, threads, t); i < share(updates, threads, t + 1); i++) update(i);
}

int main(int argc, char **argv) {
  threads = thread_count(argc, argv, USAGE);
  shards = variant(argc, argv, "one", "sharded", USAGE) ? SHARDS : 1;
  updates = number(argc, argv, 3, 1, 6000000, USAGE);
  for (int i = 0; i < SHARDS; i++) pthread_mutex_init(&locks[i].mutex, NULL);
  if (threads) team(threads, body);
  else
    for (long i = 0; i < updates; i++) update(i);
  uint64_t sum = 0;
  for (long i = 0; i < SLOTS; i++) sum += table[i] * (i + 1);
  printf("%016lx\n", sum);
}
