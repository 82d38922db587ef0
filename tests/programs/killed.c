// kill -9 of itself: nothing can be flushed, so the file is visibly cut and what it holds is usable.
// MODE: incomplete
// EXPECT: signal 9
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static volatile unsigned long a[4096];

int main(void) {
  puts("start");
  fflush(stdout);
  for (int r = 0; r < 300; r++)
    for (int i = 0; i < 4096; i++) a[i] += i;
  kill(getpid(), SIGKILL);
  for (;;) pause();
}
