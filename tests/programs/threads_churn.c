// 2000 short threads one after another: buffers and contexts are recycled.
// MODE: verify
// COUNT: thread_create 2000
// COUNT: thread_join 2000
#include <pthread.h>
#include <stdio.h>

static void *work(void *arg) {
  ++*(int *)arg;
  return NULL;
}

int main(void) {
  int n = 0;
  for (int i = 0; i < 2000; i++) {
    pthread_t t;
    pthread_create(&t, NULL, work, &n);
    pthread_join(t, NULL);
  }
  printf("%d\n", n);
  return 0;
}
