#include <math.h>
#include <pthread.h>
#include <stdio.h>

static double value[2];

static void *work(void *arg) {
  volatile double two = 2;
  *(double *)arg = sqrt(two);
  return NULL;
}

int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, &value[i]);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  printf("long is %d bytes, sqrt(2) is %.4f, 2 threads\n", SIZE_OF_LONG, (value[0] + value[1]) / 2);
  return 0;
}
