// OpenMP: sections, single with copyprivate, masked. Who runs a single has a mark, who passes it has none.
// MODE: verify
// FLAGS: -fopenmp
// THREADS: 1 2 4
// COUNT: sections 2
// COUNT: single 2
// COUNT: masked 1
// COUNT: work_end 5
#include <omp.h>
#include <stdio.h>

static int a, b, c, d[2];

int main(void) {
#pragma omp parallel num_threads(2)
    {
#pragma omp sections
        {
#pragma omp section
            a = 1;
#pragma omp section
            b = 2;
        }
        int v;
#pragma omp single copyprivate(v)
        v = 7;
        d[omp_get_thread_num()] = v;
#pragma omp single nowait
        c = 3;
#pragma omp masked
        d[0]++;
    }
    printf("%d %d %d %d %d\n", a, b, c, d[0], d[1]);
    return 0;
}
