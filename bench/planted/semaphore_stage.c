// The middle one of three stages is slow: the others wait for it. The twin has it in two threads, each for every second
// item.
#include <semaphore.h>
#include "common.h"
enum { ITEMS = 600, SLOTS = 4, MIDDLE = ~300000, OTHER = ~40000 };
#ifdef MENDED
enum { MIDDLES = 2 };
#else
enum { MIDDLES = 1 };
#endif
static sem_t $filled[2][MIDDLES], $empty[2][MIDDLES];
static uint64_t $slots[2][ITEMS], $sum;
static void $put(int at, int i, uint64_t x) {
  sem_wait(&$empty[at][i % MIDDLES]);
  $slots[at][i] = x;
  sem_post(&$filled[at][i % MIDDLES]);
}
static uint64_t $get(int at, int i) {
  sem_wait(&$filled[at][i % MIDDLES]);
  uint64_t x = $slots[at][i];
  sem_post(&$empty[at][i % MIDDLES]);
  return x;
}
static void $first(void) {
  for (int i = 0; i < ITEMS; i++) $put(0, i, $work((uint64_t)i, OTHER));
}
static void $middle(int from) {
  for (int i = from; i < ITEMS; i += MIDDLES) $put(1, i, $work($get(0, i), MIDDLE)); // PLANTED: producer, handover
}
static void $last(void) {
  for (int i = 0; i < ITEMS; i++) $sum += $work($get(1, i), OTHER);
}
static void $body(int t) {
  if (t == 0) $first();
  if (t == 1) $last();
  if (t > 1) $middle(t - 2);
}
int main(int argc, char **argv) {
  thread_count(argc, argv, "THREADS");
  for (int at = 0; at < 2; at++)
    for (int m = 0; m < MIDDLES; m++) sem_init(&$filled[at][m], 0, 0), sem_init(&$empty[at][m], 0, SLOTS);
  team(2 + MIDDLES, $body);
  printf("%lu\n", (unsigned long)$sum);
}
