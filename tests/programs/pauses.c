// A tiny memory limit: the program is paused while the writer catches up; nothing is lost.
// MODE: verify
// ENV: CONTECH_MEMORY=4M
// ENV: CONTECH_BUFFER=64K
// LEVELS: O2
#include <pthread.h>
#include <stdio.h>

static volatile int a[2][4096];
static void *work(void *arg) {
  volatile int *p = a[(long)arg];
  for (int r = 0; r < 300; r++)
    for (int i = 0; i < 4096; i++) p[i] += r;
  return NULL;
}

int main(void) {
  pthread_t t;
  pthread_create(&t, NULL, work, (void *)1);
  work((void *)0);
  pthread_join(t, NULL);
  printf("%d %d\n", a[0][9], a[1][4000]);
  return 0;
}
