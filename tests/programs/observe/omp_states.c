// Two threads, or as many as there are; each of these for about 200 ms: the others wait at a barrier for the first one, in
// a critical section, for tasks, at the end of a region, and between regions.
#include <omp.h>
#include <stdio.h>

static void work(double seconds) {
    for (double until = omp_get_wtime() + seconds; omp_get_wtime() < until;) {}
}

int main(void) {
    // Barrier: all but the first one.
#pragma omp parallel
    {
        if (omp_get_thread_num() == 0)
            work(0.2);
#pragma omp barrier
        // At its end: again.
        if (omp_get_thread_num() == 0)
            work(0.2);
    }
    // Idle: the workers, between regions.
    work(0.2);
    // Lock.
#pragma omp parallel
    {
#pragma omp critical
        work(0.2);
    }
    // Join: one thread waits for a task that another one runs; what it runs itself is no wait.
#pragma omp parallel
    {
        static volatile int begun;
        if (omp_get_thread_num() == 0) {
#pragma omp task
            {
                begun = 1;
                work(0.2);
            }
            if (omp_get_num_threads() > 1)
                while (!begun) {}
#pragma omp taskwait
        }
    }
    printf("%d\n", omp_get_max_threads());
    return 0;
}
