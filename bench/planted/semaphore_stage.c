// The middle one of three stages is slow: the others wait for it.
#include <semaphore.h>
#include "../scaling/common.h"
enum { ITEMS = 600, SLOTS = 4 };
static sem_t filled[2], empty[2];
static uint64_t slots[2][ITEMS], sum;
#ifdef MENDED
enum { MIDDLE = 126666, OTHER = 126667 };
#else
enum { MIDDLE = 300000, OTHER = 40000 };
#endif
static void put(int at, int i, uint64_t x) {
  sem_wait(&empty[at]);
  slots[at][i] = x;
  sem_post(&filled[at]);
}
static uint64_t get(int at, int i) {
  sem_wait(&filled[at]);
  uint64_t x = slots[at][i];
  sem_post(&empty[at]);
  return x;
}
static void first(void) {
  for (int i = 0; i < ITEMS; i++) put(0, i, work((uint64_t)i, OTHER));
}
static void middle(void) {
  for (int i = 0; i < ITEMS; i++) put(1, i, work(get(0, i), MIDDLE)); // PLANTED: producer, handover
}
static void last(void) {
  for (int i = 0; i < ITEMS; i++) sum += work(get(1, i), OTHER);
}
static void body(int t) {
  if (t == 0) first();
  if (t == 1) middle();
  if (t == 2) last();
}
int main(int argc, char **argv) {
  thread_count(argc, argv, "semaphore_stage THREADS");
  for (int at = 0; at < 2; at++) sem_init(&filled[at], 0, 0), sem_init(&empty[at], 0, SLOTS);
  team(3, body);
  printf("%lu\n", (unsigned long)sum);
}
