// OpenMP: whoever executes a task, or a part of an untied one, is the thread that writes the variable of its own there.
// MODE: verify
// FLAGS: -fopenmp
// THREADS: 1 2 4
// CHECK: executors
#include <omp.h>
#include <stdio.h>

static _Thread_local volatile int mine;
static volatile long sink;

__attribute__((noinline)) static void here(void) { mine = 1; }

// Work that gives other threads the time to take tasks.
static void work(void) {
    for (int i = 0; i < 2000; i++)
        sink = i;
    here();
}

int main(void) {
    int all = 0;
#pragma omp parallel
    {
        here();
#pragma omp barrier
#pragma omp single
        for (int i = 0; i < 40; i++) {
#pragma omp task
            {
                work();
#pragma omp task
                work();
                here();
#pragma omp taskwait
                here();
            }
#pragma omp task untied
            {
                for (int j = 0; j < 4; j++) {
#pragma omp task if (j % 2)
                    work();
                    here();
#pragma omp taskyield
                    here();
                }
#pragma omp taskwait
                here();
            }
        }
#pragma omp atomic
        all++;
    }
    here();
    printf("%d\n", all);
    return 0;
}
