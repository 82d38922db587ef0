// A jump leaves the handler of a fault. Where the interrupted code's cursor was is looked for among its registers; a
// leaf that looks like an event of the runtime (the small numbers here) is no end of a record.
// MODE: incomplete
// LEVELS: O0 O1 O2 O3
// NOTE: records were lost in 90 jumps out of a signal handler
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>

static sigjmp_buf place;
static volatile int values[100];
static int *volatile nowhere;

static void on_fault(int signal) {
  for (int i = 0; i < 50; i++) values[i] += signal;
  siglongjmp(place, 1);
}

__attribute__((noinline)) static int fault(int n) {
  int s = 0;
  for (int k = 0; k < n; k++) s += values[k];
  *nowhere = s;
  return s;
}

int main(void) {
  struct sigaction action = {.sa_handler = on_fault};
  int faults = 0;
  sigaction(SIGSEGV, &action, NULL);
  for (volatile int i = 0; i < 90; i++) {
    if (sigsetjmp(place, 1) == 0)
      fault(i);
    else
      faults++;
  }
  printf("%d\n", faults);
  return 0;
}
