// Two modules, a static archive and a shared library, each with functions of the same static name.
// MODE: golden
// LEVELS: O0 O1 O2 O3
// WITH: modules_second.c
// ARCHIVE: modules_archive.c
// SHARED: modules_shared.c
#include <pthread.h>
#include <stdio.h>

int second_value(int), archive_value(int), shared_value(int);
static int same(int x) { return x + 1; }

static void *work(void *arg) {
  long x = same(1);
  x = second_value((int)x);
  x = archive_value((int)x);
  x = shared_value((int)x);
  *(long *)arg = x;
  return NULL;
}

int main(void) {
  pthread_t t;
  long a, b;
  work(&a);
  pthread_create(&t, NULL, work, &b);
  pthread_join(t, NULL);
  printf("%ld %ld\n", a, b);
  return 0;
}
