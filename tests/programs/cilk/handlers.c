// A timer's handler calls and calls while a recursion is profiled: it comes in the middle of events, too.
#include <contech/cilk.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

static volatile int ticks, tocks;

__attribute__((noinline)) static void tock(void) { tocks++; }

// More events than are logged between two readings.
__attribute__((noinline)) static void tick(int signal) {
  (void)signal;
  for (int i = 0; i < 400; i++) tock();
  ticks++;
}

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

int main(void) {
  struct itimerval often = {{0, 200}, {0, 200}};
  signal(SIGALRM, tick);
  setitimer(ITIMER_REAL, &often, NULL);
  long sum;
  int rounds = 0;
  do {
    fib(25, &sum);
    rounds++;
  } while (ticks < 500);
  setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
  printf("%ld %d %d\n", sum, rounds, ticks);
  return sum != 75025;
}
