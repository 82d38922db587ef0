// Two threads; for about 100 ms each, one waits: for a nested lock, in an ordered section, for a task group.
#include <omp.h>
#include <stdio.h>

static void work(double seconds) {
    for (double until = omp_get_wtime() + seconds; omp_get_wtime() < until;) {}
}

int main(void) {
    omp_nest_lock_t lock;
    omp_init_nest_lock(&lock);
#pragma omp parallel num_threads(2)
    {
        omp_set_nest_lock(&lock);
        work(0.1);
        omp_unset_nest_lock(&lock);
    }
    omp_destroy_nest_lock(&lock);
#pragma omp parallel for ordered schedule(static, 1) num_threads(2)
    for (int i = 0; i < 2; i++) {
#pragma omp ordered
        work(0.1);
    }
#pragma omp parallel num_threads(2)
    {
        static volatile int begun;
        if (omp_get_thread_num() == 0) {
#pragma omp taskgroup
            {
#pragma omp task
                {
                    begun = 1;
                    work(0.1);
                }
                while (!begun) {}
            }
        }
    }
    printf("done\n");
    return 0;
}
