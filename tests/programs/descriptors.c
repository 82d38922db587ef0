// The trace's descriptor is out of the way: files get the numbers that they get natively, and what a program finds
// open below 900 is its own. A program that closes everything goes on, and is recorded.
// MODE: verify
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static int values[64];

int main(void) {
  int open_ones = 0, before[3];
  for (int fd = 0; fd < 900; fd++) open_ones += fcntl(fd, F_GETFD) != -1;
  for (int i = 0; i < 3; i++) before[i] = open("/dev/null", O_RDONLY);
  for (int fd = 3; fd < 900; fd++) close(fd);
  for (int i = 0; i < 64; i++) values[i] = i;
  printf("%d open, then %d %d %d, and again %d\n", open_ones, before[0], before[1], before[2], open("/dev/null", O_RDONLY));
  return 0;
}
