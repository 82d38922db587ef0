// Two readers at once, then a writer: reads are not ordered among themselves; the write follows both
// releases; tries that fail leave no edge.
// MODE: golden
// LEVELS: O0 O1 O2 O3
// NATIVE: turn.c
#include <errno.h>
#include <pthread.h>
#include <stdio.h>

#include "turn.h"

static pthread_rwlock_t l = PTHREAD_RWLOCK_INITIALIZER;
static int value = 1, seen[2], busy;

static void *reader(void *arg) {
  int i = (int)(long)arg;
  turn_wait(i);
  pthread_rwlock_rdlock(&l);
  seen[i] = value;
  turn_set(i + 1);
  turn_wait(3 + i);
  pthread_rwlock_unlock(&l);
  turn_set(4 + i);
  return NULL;
}

int main(void) {
  pthread_t t[2];
  pthread_create(&t[0], NULL, reader, (void *)0);
  pthread_create(&t[1], NULL, reader, (void *)1);
  turn_wait(2);
  busy = pthread_rwlock_trywrlock(&l) == EBUSY;
  turn_set(3);
  turn_wait(5);
  pthread_rwlock_wrlock(&l);
  value = 2;
  busy += pthread_rwlock_tryrdlock(&l) != 0;
  pthread_rwlock_unlock(&l);
  int ok = pthread_rwlock_tryrdlock(&l) == 0;
  pthread_rwlock_unlock(&l);
  pthread_join(t[0], NULL);
  pthread_join(t[1], NULL);
  printf("%d %d %d %d %d\n", seen[0], seen[1], value, busy, ok);
  return 0;
}
