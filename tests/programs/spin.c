// A spin lock: lock, unlock, a failing and a succeeding try.
// MODE: golden
// LEVELS: O0 O1 O2 O3
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

static pthread_spinlock_t s;
static int busy, x;

static void *try_it(void *arg) {
  busy = pthread_spin_trylock(&s) == EBUSY;
  return arg;
}

static void *take_it(void *arg) {
  pthread_spin_lock(&s);
  x += 2;
  pthread_spin_unlock(&s);
  return arg;
}

int main(void) {
  pthread_t t;
  pthread_spin_init(&s, PTHREAD_PROCESS_PRIVATE);
  int ok = pthread_spin_trylock(&s) == 0;
  pthread_create(&t, NULL, try_it, NULL);
  pthread_join(t, NULL);
  x = 1;
  pthread_spin_unlock(&s);
  pthread_create(&t, NULL, take_it, NULL);
  pthread_join(t, NULL);
  pthread_spin_destroy(&s);
  printf("%d %d %d\n", ok, busy, x);
  return 0;
}
