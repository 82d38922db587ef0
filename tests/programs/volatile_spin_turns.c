// A thread that waits for a plain volatile variable and for a relaxed atomic one, in loops that rest and that look at
// two things: each turn's accesses are in the graph, and the trace has them as a count.
// MODE: verify
// CHECK: turns
// LEVELS: O0 O1 O2 O3
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static volatile int ready, stop;
static atomic_int go;
static volatile long seen;

static void *work(void *arg) {
  while (!seen) usleep(1000);
  usleep(50000);
  ready = 1;
  while (seen < 2) usleep(1000);
  usleep(50000);
  atomic_store_explicit(&go, 1, memory_order_relaxed);
  while (seen < 3) usleep(1000);
  usleep(50000);
  stop = 1;
  return arg;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, work, NULL);
  long first = 0, second = 0, third = 0;
  seen = 1;
  while (!ready && !stop) first++;
  seen = 2;
  while (!atomic_load_explicit(&go, memory_order_relaxed)) {
    if (++second % 100000 == 0) sched_yield();
  }
  seen = 3;
  while (!stop) {
    third++;
    sched_yield();
  }
  pthread_join(t, NULL);
  printf("R %p %ld\n", (void *)&ready, first + 1);
  printf("R %p %ld\n", (void *)&go, second + 1);
  printf("R %p %ld\n", (void *)&stop, first + third + 1);
}
