// pthread_mutex_timedlock and pthread_mutex_clocklock: a time-out (no edge), then successes.
// MODE: golden
// LEVELS: O0 O1 O2 O3
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

static void *work(void *arg) {
  struct timespec past = {1, 0};
  *(int *)arg = pthread_mutex_timedlock(&m, &past) == ETIMEDOUT;
  return NULL;
}

int main(void) {
  struct timespec future;
  pthread_t t;
  int late = 0;
  clock_gettime(CLOCK_REALTIME, &future);
  future.tv_sec += 1000;
  int ok = pthread_mutex_timedlock(&m, &future) == 0;
  pthread_create(&t, NULL, work, &late);
  pthread_join(t, NULL);
  pthread_mutex_unlock(&m);
  clock_gettime(CLOCK_MONOTONIC, &future);
  future.tv_sec += 1000;
  int ok2 = pthread_mutex_clocklock(&m, CLOCK_MONOTONIC, &future) == 0;
  pthread_mutex_unlock(&m);
  printf("%d %d %d\n", ok, late, ok2);
  return 0;
}
