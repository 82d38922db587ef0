// Two modules with the same ids.
#include <stdio.h>

#include "recorded.h"

static struct descriptor other = {0x444d5443, ABI, IDS, 7, table, sizeof table, 0, 0, 0};

int main(void) {
  block(0);
  __contech_register(&other, &other + 1);
  block(1);
  puts("done");
  return 7;
}
