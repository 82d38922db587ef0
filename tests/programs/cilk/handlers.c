// A timer's handler calls and calls while a recursion is profiled: it comes in the middle of events, too. With an
// argument it jumps back in the end.
#include <contech/cilk.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static volatile int ticks, tocks, jumps;
static sigjmp_buf back;

__attribute__((noinline)) static void tock(void) { tocks++; }

// More events than are logged between two readings.
__attribute__((noinline)) static void tick(int signal) {
  (void)signal;
  for (int i = 0; i < 400; i++) tock();
  ticks++;
  if (jumps && ticks < 500) siglongjmp(back, 1);
}

__attribute__((noinline)) static void after(volatile int *count) { ++*count; }

static void fib(int n, long *sum) {
  if (n < 2) {
    *sum = n;
    return;
  }
  long a, b;
  cilk_spawn(fib, n - 1, &a);
  fib(n - 2, &b);
  cilk_sync;
  *sum = a + b;
}

int main(int argc, char **argv) {
  (void)argv;
  struct itimerval often = {{0, 200}, {0, 200}};
  signal(SIGALRM, tick);
  setitimer(ITIMER_REAL, &often, NULL);
  long sum;
  volatile int rounds = 0, count = 0;
  jumps = argc > 1;
  sigsetjmp(back, 1);
  do {
    fib(25, &sum);
    rounds++;
  } while (ticks < 500);
  setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
  jumps = 0;
  for (int i = 0; i < 1000; i++) after(&count);
  printf("%ld %d %d\n", sum, rounds, ticks);
  return sum != 75025 || count != 1000;
}
