// --contech-atomics=all: relaxed operations are tasks, and still order nothing.
// MODE: verify
// FLAGS: --contech-atomics=all
// COUNT: atomic_rmw 200
// COUNT: atomic_load 1
// EDGE: atomic_rmw -> atomic_rmw 0
// EDGE: atomic_rmw -> atomic_load 0
#include <pthread.h>
#include <stdatomic.h>

static atomic_int x;

static void *work(void *arg) {
  for (int i = 0; i < 100; i++) atomic_fetch_add_explicit(&x, 1, memory_order_relaxed);
  return arg;
}

int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  return atomic_load_explicit(&x, memory_order_relaxed) == 200 ? 0 : 1;
}
