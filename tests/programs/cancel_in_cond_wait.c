// A thread cancelled in a condition wait: the wait ends without a wake, the mutex is reacquired for the
// cleanup handler, which unlocks it.
// MODE: golden
// LEVELS: O0 O1 O2 O3
// NATIVE: turn.c
#include <pthread.h>
#include <stdio.h>

#include "turn.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static volatile int tid;

static void unlock(void *arg) { pthread_mutex_unlock(arg); }

static void *work(void *arg) {
  pthread_mutex_lock(&m);
  pthread_cleanup_push(unlock, &m);
  tid = turn_tid();
  turn_set(1);
  for (;;) pthread_cond_wait(&c, &m);
  pthread_cleanup_pop(1);
  return arg;
}

int main(void) {
  pthread_t t;
  void *r;
  pthread_create(&t, NULL, work, NULL);
  turn_wait(1);
  turn_wait_asleep(tid);
  pthread_cancel(t);
  pthread_join(t, &r);
  printf("%d %d\n", r == PTHREAD_CANCELED, pthread_mutex_trylock(&m));
  return 0;
}
