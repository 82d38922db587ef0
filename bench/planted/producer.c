// One producer that is slower than those who wait for what it makes.
#include "common.h"
enum { ITEMS = ~1500 };
static pthread_mutex_t $lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t $filled = PTHREAD_COND_INITIALIZER;
static uint64_t $queue[ITEMS], $sums[MOST_THREADS][8];
static int $made, $taken, threads;
#ifdef MENDED
enum { MAKE = ~2000, USE = ~100000 };
#else
enum { MAKE = ~80000, USE = ~20000 };
#endif
static void $push(uint64_t item) {
  pthread_mutex_lock(&$lock);
  $queue[$made++] = item;
  pthread_cond_signal(&$filled);
  pthread_mutex_unlock(&$lock);
}
static int $pop(uint64_t *item) {
  pthread_mutex_lock(&$lock);
  while ($made == $taken && $made < ITEMS) pthread_cond_wait(&$filled, &$lock);
  int $found = $taken < $made;
  if ($found) *item = $queue[$taken++];
  if ($made == ITEMS) pthread_cond_broadcast(&$filled);
  pthread_mutex_unlock(&$lock);
  return $found;
}
static void $consume(int t) {
  uint64_t item;
  while ($pop(&item)) $noise(t), $sums[t][0] += $work(item, USE);
}
static void $produce(void) {
  for (int i = 0; i < ITEMS; i++) $push($work((uint64_t)i, MAKE)); // PLANTED: producer
}
static void $body(int t) {
  if (t == 0) $produce();
  $consume(t);
}
int main(int argc, char **argv) {
  threads = thread_count(argc, argv, "THREADS");
  team(threads, $body);
  printf("%lu\n", (unsigned long)$sums[0][0]);
}
