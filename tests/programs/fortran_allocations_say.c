// NATIVE (part of fortran_allocations): prints at the end, when nothing is allocated any more.
#include <stdio.h>

static struct {
  int alloc, bytes;
  long address;
} seen[64];
static int n;

void said(int alloc, long address, int bytes) {
  seen[n].alloc = alloc;
  seen[n].address = address;
  seen[n++].bytes = bytes;
}

void say_all(void) {
  static char buffer[1 << 14];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  for (int i = 0; i < n; i++) {
    if (seen[i].alloc)
      printf("alloc malloc 0x%lx %d\n", (unsigned long)seen[i].address, seen[i].bytes);
    else
      printf("free 0x%lx 0\n", (unsigned long)seen[i].address);
  }
}
