// The program changes its directory and environment; the trace is where it was asked for.
// MODE: golden
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(void) {
  clearenv();
  int r = chdir("/");
  printf("%d\n", r);
  return 0;
}
