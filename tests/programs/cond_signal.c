// A condition wait is three Syncs (release, wake, reacquire); the wake follows the signal.
// MODE: golden
// LEVELS: O0 O1 O2 O3
// NATIVE: turn.c
#include <pthread.h>
#include <stdio.h>

#include "turn.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int ready;
static volatile int tid;

static void *work(void *arg) {
  tid = turn_tid();
  pthread_mutex_lock(&m);
  turn_set(1);
  while (!ready) pthread_cond_wait(&c, &m);
  ready = 2;
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
  printf("%d\n", ready);
  return 0;
}
