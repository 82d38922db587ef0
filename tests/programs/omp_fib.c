// OpenMP tasks: fib. A call of n >= 2 generates two tasks and waits for both; of 12, there are 232 such calls, the
// thirteenth Fibonacci number less one.
// MODE: verify
// FLAGS: -fopenmp
// ARGS: 12
// THREADS: 1 2 4
// TASKS: 464
// COUNT: task_wait 232
#include <stdio.h>
#include <stdlib.h>

static long fib(int n) {
    if (n < 2)
        return n;
    long a, b;
#pragma omp task shared(a)
    a = fib(n - 1);
#pragma omp task shared(b)
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

int main(int argc, char **argv) {
    long r = 0;
#pragma omp parallel
#pragma omp single
    r = fib(atoi(argv[argc - 1]));
    printf("%ld\n", r);
    return 0;
}
