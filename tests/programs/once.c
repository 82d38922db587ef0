// pthread_once: the first caller runs the routine, the later ones pass and follow it.
// MODE: golden
// LEVELS: O0 O1 O2 O3
#include <pthread.h>
#include <stdio.h>

static pthread_once_t o = PTHREAD_ONCE_INIT;
static int runs;

static void init(void) { runs++; }

static void *work(void *arg) {
  pthread_once(&o, init);
  return arg;
}

int main(void) {
  pthread_t t;
  for (int i = 0; i < 2; i++) {
    pthread_create(&t, NULL, work, NULL);
    pthread_join(t, NULL);
  }
  pthread_once(&o, init);
  printf("%d\n", runs);
  return 0;
}
