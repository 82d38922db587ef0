// A thread tries for a mutex 200,000 times until its holder gives it back. The tries are one wait: each turn's access is
// in the graph, the trace has the turns as a count, and the unlock comes before the lock that ends the wait.
// MODE: verify
// CHECK: turns
// COUNT: mutex_lock 2
// EDGE: mutex_unlock -> mutex_lock 1
// ENV: CONTECH_BUFFER=64M
// LEVELS: O0 O1 O2 O3
#include <pthread.h>
#include <stdio.h>

#define TURNS 200000

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static volatile long turns;

static void *work(void *arg) {
  while (pthread_mutex_trylock(&m)) turns++;
  pthread_mutex_unlock(&m);
  return arg;
}

int main(void) {
  pthread_t t;
  pthread_mutex_lock(&m);
  pthread_create(&t, NULL, work, NULL);
  while (turns < TURNS) {}
  pthread_mutex_unlock(&m);
  pthread_join(t, NULL);
  printf("W %p %ld\n", (void *)&turns, turns);
}
