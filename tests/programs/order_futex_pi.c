// A lock of the kernel's (FUTEX_LOCK_PI and FUTEX_UNLOCK_PI, no atomic operation of the program's), taken 1000 times by two
// threads: the graph has the sections in their order.
// MODE: verify
// CHECK: log-order
#define _GNU_SOURCE
#include "order.h"
#include <linux/futex.h>
#include <pthread.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EACH 500

static uint32_t lock;
static pthread_barrier_t start;

static long futex(int operation) {
  return syscall(SYS_futex, &lock, operation, 0, NULL, NULL, 0);
}

static void *work(void *arg) {
  pthread_barrier_wait(&start);
  for (int i = 0; i < EACH; i++) {
    if (futex(FUTEX_LOCK_PI_PRIVATE) != 0) return NULL;
    section();
    if (futex(FUTEX_UNLOCK_PI_PRIVATE) != 0) return NULL;
  }
  return arg;
}

int main(void) {
  pthread_t t[2];
  pthread_barrier_init(&start, NULL, 2);
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, NULL);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  return report(2 * EACH);
}
