// Three threads, created and joined in order: Create and Join tasks with their two kinds of edge.
// MODE: golden
// LEVELS: O0 O1 O2 O3
// EXPECT: exit 0
#include <pthread.h>
#include <stdio.h>

static int result[3];

static void *work(void *arg) {
  int i = *(int *)arg;
  result[i] = i * i + 1;
  return &result[i];
}

int main(void) {
  pthread_t t[3];
  int index[3] = {0, 1, 2};
  for (int i = 0; i < 3; i++) pthread_create(&t[i], NULL, work, &index[i]);
  for (int i = 0; i < 3; i++) {
    void *r;
    pthread_join(t[i], &r);
    printf("%d\n", *(int *)r);
  }
  return 0;
}
