// OpenMP tasks: merge sort, two tasks and a wait for what is longer than 16. 1 + 2 + ... + 32 parts of 1000 are: the last
// have 31 or 32 numbers.
// MODE: verify
// FLAGS: -fopenmp
// ARGS: 1000
// THREADS: 1 2 4
// TASKS: 126
// COUNT: task_wait 63
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void sort(int *a, int *scratch, int n) {
    if (n <= 16) {
        for (int i = 1; i < n; i++) {
            int v = a[i], j = i;
            for (; j > 0 && a[j - 1] > v; j--)
                a[j] = a[j - 1];
            a[j] = v;
        }
        return;
    }
    int half = n / 2;
#pragma omp task
    sort(a, scratch, half);
#pragma omp task
    sort(a + half, scratch + half, n - half);
#pragma omp taskwait
    for (int i = 0, l = 0, r = half; i < n; i++)
        scratch[i] = r == n || (l < half && a[l] <= a[r]) ? a[l++] : a[r++];
    memcpy(a, scratch, (size_t)n * sizeof *a);
}

int main(int argc, char **argv) {
    int n = atoi(argv[argc - 1]), wrong = 0;
    int *a = malloc((size_t)n * sizeof *a), *scratch = malloc((size_t)n * sizeof *a);
    unsigned x = 1;
    for (int i = 0; i < n; i++)
        a[i] = (int)((x = x * 1664525u + 1013904223u) >> 8);
#pragma omp parallel
#pragma omp single
    sort(a, scratch, n);
    for (int i = 1; i < n; i++)
        wrong += a[i - 1] > a[i];
    printf("%d\n", wrong);
    free(a);
    free(scratch);
    return 0;
}
