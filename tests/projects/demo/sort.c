// The demo's program where there is no network: sorts the lines of a file with N threads, writes them out.
// Usage: sort THREADS FILE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char **line;
static long lines;
static int threads;
static long compared;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int compare(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

// Each thread sorts its share.
static void *share(void *arg) {
  long i = (long)arg, from = lines * i / threads, to = lines * (i + 1) / threads;
  qsort(line + from, (size_t)(to - from), sizeof *line, compare);
  pthread_mutex_lock(&lock);
  compared += to - from;
  pthread_mutex_unlock(&lock);
  return NULL;
}

// Then the shares are merged by the first thread.
static void merge(void) {
  long *at = malloc(sizeof *at * (size_t)threads);
  for (int i = 0; i < threads; i++) at[i] = lines * i / threads;
  for (long n = 0; n < lines; n++) {
    int least = -1;
    for (int i = 0; i < threads; i++)
      if (at[i] < lines * (i + 1) / threads && (least < 0 || strcmp(line[at[i]], line[at[least]]) < 0)) least = i;
    puts(line[at[least]++]);
  }
  free(at);
}

int main(int argc, char **argv) {
  FILE *f = argc == 3 ? fopen(argv[2], "rb") : NULL;
  threads = argc == 3 ? atoi(argv[1]) : 0;
  if (!f || threads < 1) {
    fprintf(stderr, "usage: sort THREADS FILE\n");
    return 2;
  }
  char *text = NULL;
  size_t size = 0, n;
  char block[65536];
  while ((n = fread(block, 1, sizeof block, f)) > 0) {
    text = realloc(text, size + n + 1);
    memcpy(text + size, block, n);
    size += n;
  }
  fclose(f);
  if (size == 0) return 0;
  text[size] = 0;
  for (size_t i = 0; i < size; i++)
    if (text[i] == 0) text[i] = ' ';
  for (char *p = strtok(text, "\n"); p; p = strtok(NULL, "\n")) {
    if (lines % 1024 == 0) line = realloc(line, sizeof *line * (size_t)(lines + 1024));
    line[lines++] = p;
  }
  pthread_t *t = malloc(sizeof *t * (size_t)threads);
  for (long i = 0; i < threads; i++) pthread_create(&t[i], NULL, share, (void *)i);
  for (long i = 0; i < threads; i++) pthread_join(t[i], NULL);
  free(t);
  merge();
  return compared == lines ? 0 : 1;
}
