// One thread taking and releasing a mutex nobody else wants; what is done under it is one addition.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned long sum;
int main(int argc, char **argv) {
  long reps = argc > 1 ? atol(argv[1]) : 1;
  for (long r = 0; r < reps; r++)
    for (int i = 0; i < 1000; i++) {
      pthread_mutex_lock(&lock);
      sum += (unsigned long)i;
      pthread_mutex_unlock(&lock);
    }
  printf("%lu\n", sum);
}
