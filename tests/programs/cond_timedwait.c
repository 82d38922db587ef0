// A timed condition wait that runs out (no edge from anywhere), then one that is signalled.
// MODE: golden
// LEVELS: O0 O1 O2 O3
// NATIVE: turn.c
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <time.h>

#include "turn.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready, late, on_time;
static volatile int tid;

static void *work(void *arg) {
  struct timespec past = {1, 0}, future;
  clock_gettime(CLOCK_REALTIME, &future);
  future.tv_sec += 1000;
  tid = turn_tid();
  pthread_mutex_lock(&m);
  late = pthread_cond_timedwait(&c, &m, &past) == ETIMEDOUT;
  turn_set(1);
  while (!ready) on_time = pthread_cond_timedwait(&c, &m, &future) == 0;
  pthread_mutex_unlock(&m);
  return arg;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, work, NULL);
  turn_wait(1);
  turn_wait_asleep(tid);
  pthread_mutex_lock(&m);
  ready = 1;
  pthread_mutex_unlock(&m);
  pthread_cond_signal(&c);
  pthread_join(t, NULL);
  printf("%d %d\n", late, on_time);
  return 0;
}
