// A creation that fails (a stack no machine has) makes no task and no context.
// MODE: golden
// LEVELS: O0 O2
#include <pthread.h>
#include <stdio.h>

static void *work(void *arg) { return arg; }

int main(void) {
  pthread_attr_t a;
  pthread_t t;
  pthread_attr_init(&a);
  pthread_attr_setstacksize(&a, 1ul << 46);
  printf("failed %d\n", pthread_create(&t, &a, work, NULL) != 0);
  pthread_attr_destroy(&a);
  printf("created %d\n", pthread_create(&t, NULL, work, NULL) == 0);
  pthread_join(t, NULL);
  return 0;
}
