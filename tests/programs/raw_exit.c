// Threads that end by the system call, of which the C library sees nothing, and a program that ends so, too.
// MODE: verify
// EXPECT: exit 9
// COUNT: thread_create 2
// COUNT: thread_join 2
// COUNT: mutex_lock 200
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long sum;

static void *work(void *arg) {
  for (long i = 0; i < 100; i++) {
    pthread_mutex_lock(&m);
    sum += i;
    pthread_mutex_unlock(&m);
  }
  syscall(SYS_exit, 0);
  return arg;
}

int main(void) {
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  printf("%ld\n", sum);
  fflush(stdout);
  syscall(SYS_exit_group, 9);
  return 0;
}
