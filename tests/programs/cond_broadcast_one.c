// A broadcast with one waiter, so that the whole graph is determined.
// MODE: golden
// LEVELS: O0 O1 O2 O3
// NATIVE: turn.c
#include <pthread.h>
#include <stdio.h>

#include "turn.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static int go;
static volatile int tid;

static void *work(void *arg) {
  tid = turn_tid();
  pthread_mutex_lock(&m);
  turn_set(1);
  while (!go) pthread_cond_wait(&c, &m);
  pthread_mutex_unlock(&m);
  return arg;
}

int main(void) {
  pthread_t t;
  pthread_cond_broadcast(&c); // nobody waits: wakes nobody
  pthread_create(&t, NULL, work, NULL);
  turn_wait(1);
  turn_wait_asleep(tid);
  pthread_mutex_lock(&m);
  go = 1;
  pthread_cond_broadcast(&c); // the waiter reacquires only after the unlock below
  pthread_mutex_unlock(&m);
  pthread_join(t, NULL);
  printf("%d\n", go);
  return 0;
}
