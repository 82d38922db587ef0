// One context, no synchronisation: one Work task.
// MODE: golden
// LEVELS: O0 O1 O2 O3
#include <stdio.h>

int main(void) {
  int s = 0;
  for (int i = 0; i < 10; i++) s += i;
  printf("%d\n", s);
  return 0;
}
