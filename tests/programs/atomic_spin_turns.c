// A thread that waits for an atomic variable 200,000 turns long: each turn's accesses are in the graph, and the trace
// has them as a count. The turns differ now and then, and a function of the program is called in them.
// MODE: verify
// CHECK: turns
// LEVELS: O0 O1 O2 O3
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#define TURNS 200000

static atomic_int ready, done;
static volatile long turns;

__attribute__((noinline)) static int is_ready(atomic_int *what) {
  return atomic_load_explicit(what, memory_order_acquire);
}

static void *work(void *arg) {
  while (turns < TURNS) usleep(1000);
  atomic_store_explicit(&ready, 1, memory_order_release);
  while (turns < 2 * TURNS) usleep(1000);
  return arg;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, work, NULL);
  while (!is_ready(&ready)) {
    turns++;
    if (turns % 50000 == 0) usleep(1);
  }
  while (!atomic_load(&done) && turns < 2 * TURNS) turns++;
  pthread_join(t, NULL);
  printf("W %p %ld\n", (void *)&turns, turns);
}
