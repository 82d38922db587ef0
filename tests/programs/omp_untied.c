// OpenMP: untied tasks go from thread to thread where libomp wants it; their contexts are whole all the same.
// 50 untied tasks with 4 children each.
// MODE: verify
// FLAGS: -fopenmp
// THREADS: 1 2 4
// COUNT: task_create 250
// COUNT: task_wait 50
// EDGE: task_create -> none 250
#include <omp.h>
#include <stdio.h>

static int sums[50];

int main(void) {
#pragma omp parallel
#pragma omp single
    for (int i = 0; i < 50; i++) {
#pragma omp task untied firstprivate(i)
        {
            for (int j = 0; j < 4; j++) {
#pragma omp task firstprivate(j)
                {
#pragma omp atomic
                    sums[i] += j;
                }
#pragma omp taskyield
            }
#pragma omp taskwait
            sums[i] *= 2;
        }
    }
    int sum = 0;
    for (int i = 0; i < 50; i++)
        sum += sums[i];
    printf("%d\n", sum);
    return 0;
}
