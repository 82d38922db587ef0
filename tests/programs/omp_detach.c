// OpenMP: a detached task is over when its event is fulfilled, by another task here: the taskwait comes after
// the last task of the one and after the Fulfill in the other.
// MODE: verify
// FLAGS: -fopenmp
// THREADS: 1 2 4
// COUNT: fulfill 1
// COUNT: task_create 2
// EDGE: fulfill -> task_wait 1
#include <omp.h>
#include <stdio.h>

static int x, y;

int main(void) {
#pragma omp parallel num_threads(2)
#pragma omp masked
    {
        omp_event_handle_t event;
#pragma omp task detach(event)
        x = 1;
#pragma omp task firstprivate(event)
        {
            y = 2;
            omp_fulfill_event(event);
        }
#pragma omp taskwait
        x += y;
    }
    printf("%d\n", x);
    return 0;
}
