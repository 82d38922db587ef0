// A thread cancelled asynchronously in a loop has a cleanup handler, which is recorded after what was lost.
// MODE: incomplete
// NATIVE: turn.c
#include <pthread.h>
#include <stdio.h>

#include "turn.h"

static volatile unsigned long values[256], counter;
static volatile int cleaned;

static void clean(void *arg) {
  for (int i = 0; i < 10; i++) cleaned++;
  (void)arg;
}

static void *work(void *arg) {
  pthread_cleanup_push(clean, NULL);
  pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
  turn_set(1);
  for (;;) {
    for (int i = 0; i < 1000; i++) values[i & 255] ^= (unsigned long)i;
    counter++;
  }
  pthread_cleanup_pop(0);
  return arg;
}

int main(void) {
  pthread_t t;
  void *r;
  pthread_create(&t, NULL, work, NULL);
  turn_wait(1);
  while (counter < 100) {
  }
  pthread_cancel(t);
  pthread_join(t, &r);
  printf("%d %d\n", r == PTHREAD_CANCELED, cleaned);
  return 0;
}
