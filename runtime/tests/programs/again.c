// A program whose first start is where its ids are reserved ones; with an argument, each start is.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDS 0
#include "recorded.h"

__attribute__((constructor(100))) static void place(int count, char **arguments) {
  const char *before = getenv("CONTECH_AGAIN");
  if (before && count == 1) module_.ids = ids;
}

int main(int count, char **arguments) {
  block(0);
  printf("%s %d %s\n", strrchr(arguments[0], '/'), count, getenv("CONTECH_AGAIN") ? "seen" : "unseen");
  return 7;
}
