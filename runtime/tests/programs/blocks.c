// Records so many blocks (argument 1), prints, returns 7.
#include <stdio.h>
#include <stdlib.h>

#include "recorded.h"

int main(int argc, char **argv) {
  long n = argc > 1 ? atol(argv[1]) : 10;
  for (long i = 0; i < n; i++) block(i & 7);
  puts("done");
  return 7;
}
