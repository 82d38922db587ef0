// std::thread::detach.
// MODE: golden
// LEVELS: O0 O2
// NATIVE: turn.c
#include <cstdio>
#include <thread>

#include "turn.h"

int main() {
  static int r;
  std::thread([] {
    turn_wait(1);
    r = 3;
    turn_set(2);
  }).detach();
  turn_set(1);
  turn_wait(2);
  std::printf("%d\n", r);
}
