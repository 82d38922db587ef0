// pthread_exit from a nested frame, with a value and a cleanup handler.
// MODE: golden
// LEVELS: O0 O1 O2 O3
#include <pthread.h>
#include <stdio.h>

static int cleaned;
static void clean(void *arg) { cleaned += *(int *)arg; }

static void leave(int depth) {
  if (depth == 0) pthread_exit((void *)42);
  leave(depth - 1);
}

static void *work(void *arg) {
  pthread_cleanup_push(clean, arg);
  leave(3);
  pthread_cleanup_pop(0);
  return NULL;
}

int main(void) {
  pthread_t t;
  int five = 5;
  void *r;
  pthread_create(&t, NULL, work, &five);
  pthread_join(t, &r);
  printf("%ld %d\n", (long)r, cleaned);
  return 0;
}
