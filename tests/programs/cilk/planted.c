// Two functions whose shares of the time are known, three quarters and one, and have nothing to do with the operations
// they execute: each goes on until its thread's CPU time says so, one with few slow operations, one with many fast ones.
#include <contech/cilk.h>
#include <stdio.h>
#include <time.h>

static long now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return t.tv_sec * 1000000000l + t.tv_nsec;
}

static volatile unsigned long sink, divisor = 3;

__attribute__((noinline)) static void dear(long until) {
  while (now() < until) {
    unsigned long x = ~0ul, d = divisor;
    for (int i = 0; i < 64; i++) x = x / d + (1ul << 63);
    sink = x;
  }
}

__attribute__((noinline)) static void cheap(long until) {
  while (now() < until) {
    unsigned a[16] = {0};
    for (unsigned i = 0; i < 512; i++)
      for (int k = 0; k < 16; k++) a[k] = (a[k] << 1) ^ (i + k);
    for (int k = 0; k < 16; k++) sink += a[k];
  }
}

int main(void) {
  long end = now();
  for (int round = 0; round < 60; round++) {
    cilk_spawn(dear, end += 1500000);
    cheap(end += 500000);
    cilk_sync;
  }
  printf("%d\n", sink != 0);
  return 0;
}
