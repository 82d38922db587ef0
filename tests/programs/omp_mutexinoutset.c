// OpenMP: tasks with mutexinoutset on one item run one at a time in any order, after the writer before and
// before the reader after them. The order they ran in is a chain of locks.
// MODE: verify
// FLAGS: -fopenmp -fopenmp-version=52
// THREADS: 1 2 4
// COUNT: depend_mutexinoutset 8
// COUNT: omp_lock 8
// COUNT: omp_unlock 8
// EDGE: omp_unlock -> omp_lock 7
#include <omp.h>
#include <stdio.h>

static int sum;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp masked
    {
#pragma omp task depend(out : sum)
        sum = 1;
        for (int i = 0; i < 8; i++) {
#pragma omp task depend(mutexinoutset : sum)
            sum += i;
        }
#pragma omp task depend(in : sum)
        printf("%d\n", sum);
    }
    return 0;
}
