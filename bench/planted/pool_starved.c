// A pool of threads that takes jobs from one queue, which one thread fills too slowly.
#include "common.h"
enum { JOBS = ~1200 };
static pthread_mutex_t $lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t $filled = PTHREAD_COND_INITIALIZER;
static uint64_t $queue[JOBS + MOST_THREADS], $sums[MOST_THREADS][8];
static long $put, $got;
static int threads;
#ifdef MENDED
enum { MAKE = ~300, USE = ~80000 };
#else
enum { MAKE = ~50000, USE = ~30000 };
#endif
static void $push(uint64_t job) {
  pthread_mutex_lock(&$lock);
  $queue[$put++] = job;
  [[pthread_cond_signal(&$filled);
  pthread_mutex_unlock(&$lock);||pthread_mutex_unlock(&$lock);
  pthread_cond_signal(&$filled);]]
}
static uint64_t $pop(void) {
  pthread_mutex_lock(&$lock);
  while ($put == $got) pthread_cond_wait(&$filled, &$lock);
  uint64_t job = $queue[$got++];
  pthread_mutex_unlock(&$lock);
  return job;
}
static void *$body(void *number) {
  int t = (int)(long)number;
  for (uint64_t job; (job = $pop()) != 0;) {
    $noise(t);
    $sums[t][0] += $work(job, USE);
  }
  return NULL;
}
static uint64_t $prepare(uint64_t i) { return $work(i, MAKE) | 1; } // PLANTED: producer, serial
int main(int argc, char **argv) {
  threads = thread_count(argc, argv, "THREADS");
  pthread_t all[MOST_THREADS];
  for (long t = 0; t < threads; t++) pthread_create(&all[t], NULL, $body, (void *)t);
  for (uint64_t i = 0; i < JOBS; i++) $push($prepare(i)); // PLANTED: producer, serial
  for (int t = 0; t < threads; t++) $push(0);
  for (int t = 0; t < threads; t++) pthread_join(all[t], NULL);
  printf("%lu\n", (unsigned long)$sums[0][0]);
}
