// OpenMP: every schedule. Each context has a mark where its part of a loop begins and ends; the barrier at
// the end of a loop is missing where nowait says so. Loops of 2 contexts: 7, barriers: 6.
// MODE: verify
// FLAGS: -fopenmp
// THREADS: 1 2 4
// COUNT: loop 14
// COUNT: work_end 14
// COUNT: barrier 6
// COUNT: parallel_begin 1
// COUNT: parallel_end 1
#include <omp.h>
#include <stdio.h>

static long sums[7], last;

int main(void) {
    omp_set_schedule(omp_sched_dynamic, 2);
#pragma omp parallel num_threads(2)
    {
#pragma omp for schedule(static)
        for (int i = 0; i < 40; i++) {
#pragma omp atomic
            sums[0] += i;
        }
#pragma omp for schedule(static, 3)
        for (int i = 0; i < 40; i++) {
#pragma omp atomic
            sums[1] += i;
        }
#pragma omp for schedule(dynamic) nowait
        for (int i = 0; i < 40; i++) {
#pragma omp atomic
            sums[2] += i;
        }
#pragma omp for schedule(guided, 2)
        for (int i = 0; i < 40; i++) {
#pragma omp atomic
            sums[3] += i;
        }
#pragma omp for schedule(auto)
        for (int i = 0; i < 40; i++) {
#pragma omp atomic
            sums[4] += i;
        }
#pragma omp for schedule(runtime)
        for (int i = 0; i < 40; i++) {
#pragma omp atomic
            sums[5] += i;
        }
#pragma omp for collapse(2) lastprivate(last)
        for (int i = 0; i < 5; i++)
            for (int j = 0; j < 8; j++) {
#pragma omp atomic
                sums[6] += i * j;
                last = i + j;
            }
    }
    for (int i = 0; i < 7; i++)
        printf("%ld ", sums[i]);
    printf("%ld\n", last);
    return 0;
}
