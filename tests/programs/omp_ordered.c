// OpenMP: ordered regions of a loop. schedule(static, 1): the two contexts take turns, so each region but the
// first waits for one of the other context.
// MODE: verify
// FLAGS: -fopenmp
// THREADS: 1 2 4
// COUNT: ordered_enter 10
// COUNT: ordered_exit 10
// EDGE: ordered_exit -> ordered_enter 9
#include <omp.h>
#include <stdio.h>

static int log_[10], n;

int main(void) {
#pragma omp parallel for ordered schedule(static, 1) num_threads(2)
    for (int i = 0; i < 10; i++) {
#pragma omp ordered
        log_[n++] = i;
    }
    for (int i = 0; i < 10; i++)
        printf("%d ", log_[i]);
    printf("\n");
    return 0;
}
