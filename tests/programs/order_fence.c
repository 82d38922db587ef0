// Relaxed stores and loads ordered by fences: message passing back and forth.
// MODE: verify
// CHECK: log-order
// COUNT: fence 4000
#define SECTIONS 2000
#include "order.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static atomic_int turn;

static void play(int me) {
  for (int i = 0; i < SECTIONS / 2; i++) {
    while (atomic_load_explicit(&turn, memory_order_relaxed) != me) sched_yield();
    atomic_thread_fence(memory_order_acquire);
    section();
    atomic_thread_fence(memory_order_release);
    atomic_store_explicit(&turn, !me, memory_order_relaxed);
  }
}

static void *other(void *arg) {
  play(1);
  return arg;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, other, NULL);
  play(0);
  pthread_join(t, NULL);
  return report(SECTIONS);
}
