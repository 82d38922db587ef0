// OpenMP: explicit tasks, each a context of its own: Create where it is generated, an edge from its last task
// to the wait that waited for it. Which thread ran it does not show. taskyield orders nothing.
// In order: two tasks and a taskwait; an undeferred task (Join at once); a final task whose child is
// undeferred; a mergeable one; a taskgroup that waits for a grandchild, which a taskwait does not; a taskloop
// of three tasks; tasks nobody waits for but the barrier.
// MODE: golden
// FLAGS: -fopenmp
// THREADS: 1 2 4
#include <omp.h>
#include <stdio.h>

static int a, b, c, d, e, f, g[6], h;

int main(void) {
#pragma omp parallel num_threads(2)
    {
#pragma omp masked
        {
#pragma omp task
            a = 1;
#pragma omp task
            b = 2;
#pragma omp taskyield
#pragma omp taskwait
#pragma omp task if (0)
            c = 3;
#pragma omp task final(1) if (0)
            {
#pragma omp task
                d = 4;
            }
#pragma omp task mergeable
            e = 5;
#pragma omp taskwait
#pragma omp taskgroup
            {
#pragma omp task
                {
#pragma omp task
                    f = 6;
                }
            }
#pragma omp taskloop num_tasks(3)
            for (int i = 0; i < 6; i++)
                g[i] = i;
#pragma omp task
            h = 7;
        }
#pragma omp barrier
    }
    printf("%d %d %d %d %d %d %d %d\n", a, b, c, d, e, f, g[5], h);
    return 0;
}
