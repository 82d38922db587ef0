// OpenMP: a nest lock is acquired and released once for all its nesting; a failed test is no task.
// MODE: golden
// FLAGS: -fopenmp
// THREADS: 1 2 4
#include <omp.h>
#include <stdio.h>

int main(void) {
    omp_nest_lock_t nest;
    omp_lock_t lock;
    omp_init_nest_lock(&nest);
    omp_init_lock(&lock);
    omp_set_nest_lock(&nest);
    omp_set_nest_lock(&nest);
    int depth = omp_test_nest_lock(&nest);
    omp_unset_nest_lock(&nest);
    omp_unset_nest_lock(&nest);
    omp_unset_nest_lock(&nest);
    omp_set_lock(&lock);
    int got = omp_test_lock(&lock);
    omp_unset_lock(&lock);
    omp_destroy_lock(&lock);
    omp_destroy_nest_lock(&nest);
    printf("%d %d\n", depth, got);
    return 0;
}
