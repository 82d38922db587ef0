// Atomics wider than the processor's, by libatomic: a 16-byte and a 24-byte variable as locks.
// MODE: verify
// CHECK: log-order
// FLAGS: -latomic
#define SECTIONS 2000
#include "order.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

typedef struct {
  long taken, by;
} pair;
typedef struct {
  long turn, x, y;
} triple;
static _Atomic pair lock;
static _Atomic triple turn;

static void *work(void *arg) {
  pair mine = {1, (long)arg};
  for (int i = 0; i < SECTIONS / 4; i++) {
    pair open = {0, 0};
    while (!atomic_compare_exchange_strong(&lock, &open, mine)) {
      open = (pair){0, 0};
      sched_yield();
    }
    section();
    atomic_store(&lock, ((pair){0, 0}));
  }
  return arg;
}

static void *alternate(void *arg) {
  for (int i = 0; i < SECTIONS / 4; i++) {
    while (atomic_load(&turn).turn != (long)arg) sched_yield();
    section();
    atomic_store(&turn, ((triple){!(long)arg, 1, 2}));
  }
  return arg;
}

static void two(void *(*body)(void *)) {
  pthread_t t[2];
  for (long i = 0; i < 2; i++) pthread_create(&t[i], NULL, body, (void *)i);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
}

int main(void) {
  two(work);
  two(alternate);
  return report(SECTIONS);
}
