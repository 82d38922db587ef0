// A spin-wait is one task, however often it looks; the store it waited for comes before it. The wait outlasts
// no buffer.
// MODE: verify
// COUNT: atomic_load 1
// COUNT: atomic_store 1
// EDGE: atomic_store -> atomic_load 1
// ENV: CONTECH_BUFFER=64M
// LEVELS: O0 O1 O2 O3
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

static atomic_int ready;

static void *work(void *arg) {
  usleep(20000);
  atomic_store_explicit(&ready, 1, memory_order_release);
  return arg;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, work, NULL);
  while (!atomic_load_explicit(&ready, memory_order_acquire)) {}
  return pthread_join(t, NULL);
}
