// OpenMP: a region inside of a region. The inner one hangs on the context of the task that met it.
// MODE: golden
// FLAGS: -fopenmp
// THREADS: 1 2 4
#include <omp.h>
#include <stdio.h>

static int sum;

int main(void) {
    omp_set_max_active_levels(2);
#pragma omp parallel num_threads(2)
    {
#pragma omp masked
#pragma omp parallel num_threads(2)
        {
#pragma omp masked
            sum++;
        }
    }
#pragma omp parallel if (0)
    sum++;
    printf("%d\n", sum);
    return 0;
}
