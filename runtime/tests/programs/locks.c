// The same lock calls as a library that is not instrumented (PLAIN) and as a recorded program.
#include <pthread.h>
#include <stdio.h>
#include <errno.h>

#ifndef PLAIN
#include "recorded.h"
extern void library(void);
#endif

static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;

#ifdef PLAIN
void library(void)
#else
int main(void)
#endif
{
  errno = 77;
  for (int i = 0; i < 3; i++) {
    pthread_mutex_lock(&m);
    pthread_mutex_unlock(&m);
  }
  if (errno != 77) puts("errno changed");
#ifndef PLAIN
  library();
  return 0;
#endif
}
