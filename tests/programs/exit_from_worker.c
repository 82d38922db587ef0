// A worker calls exit(7) while main waits in a join and a third thread runs; handlers run in the worker.
// MODE: verify
// EXPECT: exit 7
// COUNT: thread_create 2
// NATIVE: turn.c
// REPEAT: 5
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "turn.h"

static volatile unsigned long n;
static void handler(void) { puts("handler"); }
static void *spin(void *arg) {
  turn_set(1);
  for (;;) n++;
  return arg;
}
static void *leave(void *arg) {
  turn_wait(2); // the creation is over
  puts("leaving");
  exit(7);
  return arg;
}

int main(void) {
  pthread_t t, u;
  atexit(handler);
  pthread_create(&t, NULL, spin, NULL);
  turn_wait(1);
  pthread_create(&u, NULL, leave, NULL);
  turn_set(2);
  pthread_join(u, NULL);
  puts("never");
  return 0;
}
