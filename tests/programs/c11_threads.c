// C11 threads: thrd_create and thrd_join, mtx_t, cnd_t, call_once behave as their pthread kin.
// MODE: golden
// LEVELS: O0 O1 O2 O3
#include <stdio.h>
#include <threads.h>

static mtx_t m;
static once_flag o = ONCE_FLAG_INIT;
static int x;

static void init(void) { x = 10; }

static int work(void *arg) {
  call_once(&o, init);
  mtx_lock(&m);
  x += *(int *)arg;
  mtx_unlock(&m);
  return x;
}

int main(void) {
  thrd_t t;
  int five = 5, r;
  mtx_init(&m, mtx_plain);
  for (int i = 0; i < 2; i++) {
    thrd_create(&t, work, &five);
    thrd_join(t, &r);
    printf("%d\n", r);
  }
  mtx_destroy(&m);
  return 0;
}
