// A thread cancelled while it sleeps, with a cleanup handler: its context ends, the join gets its edge.
// MODE: golden
// LEVELS: O0 O1 O2 O3
// NATIVE: turn.c
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "turn.h"

static int cleaned;
static void clean(void *arg) { cleaned = (int)(long)arg; }

static void *work(void *arg) {
  pthread_cleanup_push(clean, arg);
  turn_set(1);
  for (;;) pause();
  pthread_cleanup_pop(0);
  return NULL;
}

int main(void) {
  pthread_t t;
  void *r;
  pthread_create(&t, NULL, work, (void *)7);
  turn_wait(1);
  pthread_cancel(t);
  pthread_join(t, &r);
  printf("%d %d\n", r == PTHREAD_CANCELED, cleaned);
  return 0;
}
