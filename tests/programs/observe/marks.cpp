// In C++: idle, scheduling and a phase by the program's own word, within a region of interest of about 300 ms.
#include <contech/observe.h>
#include <cstdio>
#include <ctime>

static void work() {
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    do
        clock_gettime(CLOCK_MONOTONIC, &now);
    while ((now.tv_sec - begin.tv_sec) * 1000000000L + now.tv_nsec - begin.tv_nsec < 100000000);
}

int main() {
    contech_phase_begin("before");
    work();
    contech_phase_end();
    contech_region_begin();
    contech_idle_begin();
    work();
    contech_idle_end();
    contech_phase_begin("marked");
    contech_scheduling_begin();
    work();
    contech_scheduling_end();
    contech_phase_end();
    contech_region_end();
    work();
    contech_region_begin();
    work();
    contech_region_end();
    work();
    std::printf("marked\n");
    return 0;
}
