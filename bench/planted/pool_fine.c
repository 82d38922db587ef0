// A pool of threads that takes jobs of about one size from one bounded queue as they come.
#include "common.h"
enum { JOBS = ~2500, ROOM = [[8||64]] };
static pthread_mutex_t $lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t $filled = PTHREAD_COND_INITIALIZER, $drained = PTHREAD_COND_INITIALIZER;
static uint64_t $ring[ROOM], $sums[MOST_THREADS][8]; // PLANTED: nothing
static long $put, $got;
static int threads;
static void $push(uint64_t job) {
  pthread_mutex_lock(&$lock);
  while ($put - $got == ROOM) pthread_cond_wait(&$drained, &$lock);
  $ring[$put++ % ROOM] = job;
  pthread_cond_signal(&$filled);
  pthread_mutex_unlock(&$lock);
}
static uint64_t $pop(void) {
  pthread_mutex_lock(&$lock);
  while ($put == $got) pthread_cond_wait(&$filled, &$lock);
  uint64_t job = $ring[$got++ % ROOM];
  pthread_cond_signal(&$drained);
  pthread_mutex_unlock(&$lock);
  return job;
}
static void $body(int t) {
  for (uint64_t job; (job = $pop()) != 0;) {
    $noise(t);
    $sums[t][0] += $work(job, ~40000);
  }
}
static void *$start(void *t) { return $body((int)(long)t), NULL; }
int main(int argc, char **argv) {
  threads = thread_count(argc, argv, "THREADS");
  pthread_t all[MOST_THREADS];
  for (long t = 0; t < threads; t++) pthread_create(&all[t], NULL, $start, (void *)t);
  for (uint64_t i = 1; i <= JOBS; i++) $push(i);
  for (int t = 0; t < threads; t++) $push(0);
  for (int t = 0; t < threads; t++) pthread_join(all[t], NULL);
  printf("%lu\n", (unsigned long)$sums[0][0]);
}
