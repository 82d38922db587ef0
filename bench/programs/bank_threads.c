// Two threads moving money between 64 accounts, each with a mutex of its own.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
static struct {
  pthread_mutex_t lock;
  long money;
  char history[64];
} account[64];
static long reps;
static void *clerk(void *arg) {
  unsigned s = arg ? 17 : 23;
  for (long r = 0; r < reps; r++)
    for (int i = 0; i < 100; i++) {
      s = s * 1664525u + 1013904223u;
      unsigned a = s >> 26, b = s >> 20 & 63;
      if (a == b) continue;
      if (a > b) a ^= b, b ^= a, a ^= b;
      pthread_mutex_lock(&account[a].lock);
      pthread_mutex_lock(&account[b].lock);
      account[a].money -= s & 15;
      account[b].money += s & 15;
      for (int k = 0; k < 64; k++) account[a].history[k] ^= account[b].history[63 - k];
      pthread_mutex_unlock(&account[b].lock);
      pthread_mutex_unlock(&account[a].lock);
    }
  return NULL;
}
int main(int argc, char **argv) {
  pthread_t t;
  long sum = 0;
  reps = argc > 1 ? atol(argv[1]) : 1;
  for (int i = 0; i < 64; i++) pthread_mutex_init(&account[i].lock, NULL);
  pthread_create(&t, NULL, clerk, &t);
  clerk(NULL);
  pthread_join(t, NULL);
  for (int i = 0; i < 64; i++) sum += account[i].money;
  printf("%ld %ld\n", sum, account[5].money);
}
