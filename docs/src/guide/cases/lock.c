// Four threads count the words of their lines by length, under one lock. FIXED: each counts for itself, and adds up once.
#include <pthread.h>
#include <stdio.h>

enum { THREADS = 4, LINES = 1000, WIDTH = 200, TIMES = 20, LENGTHS = 16 };
static char text[THREADS][LINES][WIDTH];
static long words[LENGTHS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void count(const char *line, long *to) {
  int length = 0;
  for (int i = 0; i < WIDTH; i++) {
    if (line[i] != ' ') {
      length++;
      continue;
    }
    to[length % LENGTHS]++;
    length = 0;
  }
}

static void *part(void *argument) {
  char (*lines)[WIDTH] = argument;
#ifdef FIXED
  long own[LENGTHS] = {0};
  for (int i = 0; i < LINES * TIMES; i++) count(lines[i % LINES], own);
  pthread_mutex_lock(&lock);
  for (int i = 0; i < LENGTHS; i++) words[i] += own[i];
  pthread_mutex_unlock(&lock);
#else
  for (int i = 0; i < LINES * TIMES; i++) {
    pthread_mutex_lock(&lock);
    count(lines[i % LINES], words);
    pthread_mutex_unlock(&lock);
  }
#endif
  return NULL;
}

int main(void) {
  for (int t = 0; t < THREADS; t++)
    for (int i = 0; i < LINES; i++)
      for (int j = 0; j < WIDTH; j++) text[t][i][j] = (i ^ j) % 5 ? 'a' : ' ';
  pthread_t thread[THREADS];
  for (int t = 0; t < THREADS; t++) pthread_create(&thread[t], NULL, part, text[t]);
  for (int t = 0; t < THREADS; t++) pthread_join(thread[t], NULL);
  printf("%ld words of 3 letters\n", words[3]);
}
