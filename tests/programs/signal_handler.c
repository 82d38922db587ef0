// A signal handler of instrumented code interrupts instrumented code hundreds of times.
// MODE: verify
// LEVELS: O0 O1 O2 O3
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static volatile unsigned long ticks, work[64];
static void handler(int sig) {
  ticks++;
  work[sig & 63]++;
}

int main(void) {
  struct sigaction a;
  struct itimerval every = {{0, 50}, {0, 50}}, never = {{0, 0}, {0, 0}};
  memset(&a, 0, sizeof a);
  a.sa_handler = handler;
  sigaction(SIGALRM, &a, NULL);
  setitimer(ITIMER_REAL, &every, NULL);
  unsigned long n = 0;
  while (ticks < 200) work[n++ % 32]++;
  setitimer(ITIMER_REAL, &never, NULL);
  for (int i = 0; i < 10; i++) raise(SIGALRM);
  printf("%d\n", ticks >= 210);
  return 0;
}
