// OpenMP: dependences. Each is a Sync on its item in the task that has it, after the last task of those that
// used the item before. Two readers of x after its writer, then a writer after both; an inoutset pair, a
// reader after both; one item for each i by an iterator; a taskwait for one item.
// MODE: golden
// FLAGS: -fopenmp -fopenmp-version=52
// THREADS: 1 2 4
#include <omp.h>
#include <stdio.h>

static int x, y, z[3], u, v, w;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp masked
    {
#pragma omp task depend(out : x)
        x = 1;
#pragma omp task depend(in : x) depend(out : u)
        u = x;
#pragma omp task depend(in : x) depend(out : v)
        v = x;
#pragma omp task depend(inout : x)
        x++;
#pragma omp task depend(inoutset : y)
        w = 1;
#pragma omp task depend(inoutset : y)
        y = 1;
#pragma omp task depend(in : y)
        printf("y %d\n", y);
#pragma omp taskwait depend(in : y)
#pragma omp task depend(iterator(i = 0 : 3), out : z[i])
        z[0] = z[1] = z[2] = 1;
#pragma omp task depend(in : z[1])
        z[2] = z[1];
#pragma omp taskwait
    }
    printf("%d %d %d %d\n", x, u, v, z[2]);
    return 0;
}
