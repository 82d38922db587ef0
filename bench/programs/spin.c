// Two threads that meet at a barrier which they wait for in turns of a loop. One comes a millisecond late.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
static _Atomic long arrived;
static long reps;
static void *meet(void *late) {
  for (long r = 1; r <= reps; r++) {
    if (late)
      nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    atomic_fetch_add(&arrived, 1);
    while (atomic_load(&arrived) < 2 * r)
      ;
  }
  return late;
}
int main(int argc, char **argv) {
  pthread_t other;
  reps = argc > 1 ? atol(argv[1]) : 1;
  pthread_create(&other, NULL, meet, NULL);
  meet(&other);
  pthread_join(other, NULL);
  printf("%ld\n", (long)arrived);
}
