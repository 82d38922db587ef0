// Functions with the constructor attribute (all priorities) run before main and create a thread; destructors
// and atexit handlers run after it.
// MODE: golden
// LEVELS: O0 O1 O2 O3
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int order[8], n;
static void *work(void *arg) {
  order[n++] = (int)(long)arg;
  return NULL;
}
static void say(const char *s) { write(1, s, strlen(s)); }

__attribute__((constructor(101))) static void first(void) {
  pthread_t t;
  order[n++] = 101;
  pthread_create(&t, NULL, work, (void *)102);
  pthread_join(t, NULL);
}
__attribute__((constructor)) static void second(void) { order[n++] = 103; }
__attribute__((destructor)) static void last(void) {
  order[n++] = 1;
  say("destructor\n");
}
static void handler(void) {
  order[n++] = 2;
  say("atexit\n");
}

int main(void) {
  atexit(handler);
  for (int i = 0; i < n; i++) printf("%d\n", order[i]);
  fflush(stdout);
  return 0;
}
