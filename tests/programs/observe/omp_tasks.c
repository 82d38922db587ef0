// Tasks without number, and iterations handed out one by one.
#include <stdio.h>

static volatile long sum[64];

static long fib(int n) {
    if (n < 2)
        return n;
    long a, b;
#pragma omp task shared(a)
    a = fib(n - 1);
    b = fib(n - 2);
#pragma omp taskwait
    return a + b;
}

__attribute__((noinline)) static void loop(void) {
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < 1000000; ++i)
        sum[i % 64] = i;
}

int main(void) {
    long result = 0;
#pragma omp parallel
#pragma omp single
    result = fib(24);
    loop();
#pragma omp parallel for
    for (int i = 0; i < 1000; ++i)
        sum[i % 64] = i;
    printf("%ld\n", result);
    return 0;
}
