// OpenMP: cancellation of a loop, a region and a taskgroup. Tasks that are cancelled before they begin are
// contexts without work.
// MODE: verify
// FLAGS: -fopenmp
// THREADS: 1 2 4
// ENV: OMP_CANCELLATION=true
// COUNT: task_create 20
// COUNT: taskgroup_end 1
#include <omp.h>
#include <stdio.h>

static int found, seen;

int main(void) {
#pragma omp parallel num_threads(2)
    {
#pragma omp for
        for (int i = 0; i < 1000; i++) {
            if (i == 10) {
#pragma omp atomic write
                found = i;
#pragma omp cancel for
            }
#pragma omp cancellation point for
        }
    }
#pragma omp parallel num_threads(2)
    {
#pragma omp cancel parallel
        found = -1;
    }
#pragma omp parallel num_threads(2)
#pragma omp single
#pragma omp taskgroup
    for (int i = 0; i < 20; i++) {
#pragma omp task
        {
#pragma omp atomic write
            seen = 1;
#pragma omp cancel taskgroup
        }
    }
    printf("%d %d\n", found, seen);
    return 0;
}
