// One thread created detached, one detached later; both end before main does. No Join, no edge back.
// MODE: golden
// LEVELS: O0 O1 O2 O3
// NATIVE: turn.c
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "turn.h"

static int done[2];

static void *work(void *arg) {
  turn_wait((int)(long)arg);
  done[(long)arg - 1] = 1;
  turn_set((int)(long)arg + 1);
  return NULL;
}

int main(void) {
  pthread_attr_t a;
  pthread_t t;
  pthread_attr_init(&a);
  pthread_attr_setdetachstate(&a, PTHREAD_CREATE_DETACHED);
  pthread_create(&t, &a, work, (void *)1);
  pthread_create(&t, NULL, work, (void *)2);
  pthread_detach(t);
  turn_set(1);
  turn_wait(3);
  printf("%d %d\n", done[0], done[1]);
  pthread_attr_destroy(&a);
  return 0;
}
