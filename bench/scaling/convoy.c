// Threads that queue for a lock. `one`: a lock for the whole table, `own`: a table for each thread, added up at the end.
#include "common.h"

static const char *const USAGE = "convoy THREADS [one|own [UPDATES]]";

enum { SLOTS = 1 << 14 };
static int threads, own;
static long updates;
static uint64_t table[SLOTS], *tables;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void update(uint64_t *into, long i) {
  uint64_t x = random_at(i);
  into[x % SLOTS] += work(x, 40);
}

static void body(int t) {
  for (long i = share(updates, threads, t); i < share(updates, threads, t + 1); i++)
    if (own) {
      update(tables + (long)t * SLOTS, i);
    } else {
      pthread_mutex_lock(&mutex);
      update(table, i);
      pthread_mutex_unlock(&mutex);
    }
}

int main(int argc, char **argv) {
  threads = thread_count(argc, argv, USAGE);
  own = variant(argc, argv, "one", "own", USAGE);
  updates = number(argc, argv, 3, 1, 6000000, USAGE);
  if (own && threads && !(tables = calloc((size_t)threads * SLOTS, sizeof *tables)))
    return fprintf(stderr, "no memory for %d tables\n", threads), 1;
  if (threads) team(threads, body);
  else
    for (long i = 0; i < updates; i++) update(table, i);
  for (int t = 0; own && t < threads; t++)
    for (long i = 0; i < SLOTS; i++) table[i] += tables[(long)t * SLOTS + i];
  uint64_t sum = 0;
  for (long i = 0; i < SLOTS; i++) sum += table[i] * (i + 1);
  printf("%016lx\n", sum);
}
