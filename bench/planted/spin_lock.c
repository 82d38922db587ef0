// A spin lock of the program's own, held for most of the work.
#include <sched.h>
#include <stdatomic.h>
#include "common.h"
static atomic_int $held;
static uint64_t $sum, $own[MOST_THREADS][8];
static void $enter_section(void) {
  while (atomic_exchange_explicit(&$held, 1, memory_order_acquire)) // PLANTED: lock
    while (atomic_load_explicit(&$held, memory_order_relaxed)) sched_yield(); // PLANTED: lock
}
static void $leave_section(void) { atomic_store_explicit(&$held, 0, memory_order_release); }
static void $body(int t) {
  for (int i = 0; i < 400; i++) {
#ifdef MENDED
    uint64_t x = $work((uint64_t)(t + i), ~150000);
    $enter_section();
    $sum += x;
#else
    $enter_section(); // PLANTED: lock
    $sum += $work((uint64_t)(t + i), ~150000); // PLANTED: lock
#endif
    $leave_section();
    $own[t][0] = $work($own[t][0], ~15000);
    $noise(t);
  }
}
int main(int argc, char **argv) {
  team(thread_count(argc, argv, "THREADS"), $body);
  printf("%lu\n", (unsigned long)($sum + $own[0][0]));
}
