// A spin lock of one's own (exchange, relaxed look, release store), taken 10^6 times by two threads: the graph has
// the sections in their order. What is tried in vain is not a task each.
// MODE: verify
// CHECK: log-order
// ARGS: 150000
// COUNT: atomic_give 300000
// LEVELS: O2
#define SECTIONS 300000
#include "order.h"
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>

static atomic_int lock;
static int each;
static pthread_barrier_t start;

static void *work(void *arg) {
  pthread_barrier_wait(&start);
  for (int i = 0; i < each; i++) {
    while (atomic_exchange_explicit(&lock, 1, memory_order_acquire))
      for (int k = 0; atomic_load_explicit(&lock, memory_order_relaxed); k++)
        if (k % 64 == 63) sched_yield();
    section();
    atomic_store_explicit(&lock, 0, memory_order_release);
  }
  return arg;
}

int main(int argc, char **argv) {
  each = argc > 1 ? atoi(argv[1]) : 500;
  pthread_t t[2];
  pthread_barrier_init(&start, NULL, 2);
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  return report(2 * each);
}
