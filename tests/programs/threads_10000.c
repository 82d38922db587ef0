// 10,000 threads over a run, a hundred at a time.
// MODE: verify
// COUNT: thread_create 10000
// COUNT: thread_join 10000
// EDGE: thread_create -> none 10000
// LEVELS: O2
#include <pthread.h>
#include <stdatomic.h>

static atomic_int n;

static void *work(void *arg) {
  atomic_fetch_add_explicit(&n, 1, memory_order_relaxed);
  return arg;
}

int main(void) {
  for (int i = 0; i < 100; i++) {
    pthread_t t[100];
    for (int k = 0; k < 100; k++) pthread_create(&t[k], NULL, work, NULL);
    for (int k = 0; k < 100; k++) pthread_join(t[k], NULL);
  }
  return n == 10000 ? 0 : 1;
}
