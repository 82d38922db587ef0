// A thread creates and joins a thread of its own; main joins only its own child.
// MODE: golden
// LEVELS: O0 O1 O2 O3
#include <pthread.h>
#include <stdio.h>

static void *inner(void *arg) {
  *(int *)arg += 1;
  return NULL;
}

static void *outer(void *arg) {
  pthread_t t;
  pthread_create(&t, NULL, inner, arg);
  pthread_join(t, NULL);
  *(int *)arg *= 10;
  return NULL;
}

int main(void) {
  int x = 4;
  pthread_t t;
  pthread_create(&t, NULL, outer, &x);
  pthread_join(t, NULL);
  printf("%d\n", x);
  return 0;
}
