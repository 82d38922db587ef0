// OpenMP: a region of two threads. Create before it, one context for each implicit task, one Join after it.
// The explicit barrier and the one at the end of the loop are each one Barrier of both contexts.
// MODE: golden
// FLAGS: -fopenmp
// THREADS: 1 2 4
#include <omp.h>
#include <stdio.h>

static int x[2], z[2], y;

int main(void) {
#pragma omp parallel num_threads(2)
    {
        x[omp_get_thread_num()] = 1;
#pragma omp barrier
#pragma omp masked
        y = x[0] + x[1];
#pragma omp for schedule(static)
        for (int i = 0; i < 2; i++)
            z[i] = x[i] + 1;
    }
    printf("%d %d %d\n", z[0], z[1], y);
    return 0;
}
