// A daemon's habit: closes every descriptor it can think of, then opens files of its own.
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "recorded.h"

int main(void) {
  block(0);
  for (int fd = 3; fd < 1024; fd++) close(fd);
  for (int i = 0; i < 1010; i++) {
    char name[32];
    snprintf(name, sizeof name, "own-%d", i & 3);
    if (open(name, O_CREAT | O_RDWR, 0600) < 0) break;
  }
  for (long i = 0; i < 1000000; i++) block(i & 7);
  return 3;
}
