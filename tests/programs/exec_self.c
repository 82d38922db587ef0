// exec of itself: the second image writes a trace of its own (%p is the same process).
// MODE: verify
// EXPECT: exit 6
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
  if (getenv("SECOND_IMAGE")) {
    printf("second\n");
    return 6;
  }
  printf("first\n");
  fflush(stdout);
  setenv("SECOND_IMAGE", "1", 1);
  execv("/proc/self/exe", argv);
  return argc;
}
