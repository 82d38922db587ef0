// Turn taking between threads that the recorder does not see: turn.c is compiled by plain clang, so
// neither its accesses nor any synchronisation of its own appear in the graph. It makes the order of the
// recorded operations the same in every run, which is what lets a graph be compared with a golden one.
#ifndef TURN_H
#define TURN_H
#ifdef __cplusplus
extern "C" {
#endif
// Waits until the shared counter has reached `n`.
void turn_wait(int n);
// Sets the shared counter to `n`.
void turn_set(int n);
// Waits until thread `tid` (a kernel thread id) sleeps in the kernel, for instance in a lock or a join.
void turn_wait_asleep(int tid);
// The kernel thread id of the caller.
int turn_tid(void);
#ifdef __cplusplus
}
#endif
#endif
