// A mutex taken alternately by two threads, in a fixed order: one chain of acquires and releases.
// MODE: golden
// LEVELS: O0 O1 O2 O3
// NATIVE: turn.c
#include <pthread.h>
#include <stdio.h>

#include "turn.h"

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int log_[4], n;

static void *work(void *arg) {
  int first = (int)(long)arg;
  for (int i = first; i < 4; i += 2) {
    turn_wait(i);
    pthread_mutex_lock(&m);
    log_[n++] = first;
    pthread_mutex_unlock(&m);
    turn_set(i + 1);
  }
  return NULL;
}

int main(void) {
  pthread_t t[2];
  pthread_create(&t[0], NULL, work, (void *)0);
  pthread_create(&t[1], NULL, work, (void *)1);
  pthread_join(t[0], NULL);
  pthread_join(t[1], NULL);
  printf("%d%d%d%d\n", log_[0], log_[1], log_[2], log_[3]);
  return 0;
}
