// What a program can tell contech's observer (libcontech_observe.so, preloaded by `contech scale`) about things that
// the observer cannot see: a scheduler of your own, phases of your own, the part that matters. The header is for C
// and C++. There is nothing to link, and the calls cost next to nothing while no observer is there. For Fortran use
// contech/observe.f90, for Rust contech/observe.rs.
//
//   contech_idle_begin();        ... look for work ...     contech_idle_end();         waiting for work
//   contech_scheduling_begin();  ... make tasks ...        contech_scheduling_end();   work of the scheduler
//   contech_phase_begin("sort"); ... fork to join ...      contech_phase_end();        a parallel phase, of all threads
//   contech_region_begin();      ... what matters ...      contech_region_end();       only this is measured
//
// A recorded program marks its region of interest by the last two, as well: the graph says when it was, and with
// CONTECH_ROI=1 only its accesses are recorded.
//
// Idle and scheduling belong to the calling thread. They nest (the outermost counts), and end in the thread that
// began them. A phase or a region belongs to the process: any thread may begin and end it, and nested ones are part
// of the outermost. The times of several regions of interest are added up, and times outside of them are not counted.
#ifndef CONTECH_OBSERVE_H
#define CONTECH_OBSERVE_H

#ifdef __cplusplus
extern "C" {
#endif
#define CONTECH_OBSERVER __attribute__((weak, visibility("default"))) extern
CONTECH_OBSERVER void __contech_idle_begin(void);
CONTECH_OBSERVER void __contech_idle_end(void);
CONTECH_OBSERVER void __contech_scheduling_begin(void);
CONTECH_OBSERVER void __contech_scheduling_end(void);
CONTECH_OBSERVER void __contech_phase_begin(const char *name);
CONTECH_OBSERVER void __contech_phase_end(void);
CONTECH_OBSERVER void __contech_region_begin(void);
CONTECH_OBSERVER void __contech_region_end(void);
#undef CONTECH_OBSERVER

static inline void contech_idle_begin(void) {
    if (__contech_idle_begin) __contech_idle_begin();
}
static inline void contech_idle_end(void) {
    if (__contech_idle_end) __contech_idle_end();
}
static inline void contech_scheduling_begin(void) {
    if (__contech_scheduling_begin) __contech_scheduling_begin();
}
static inline void contech_scheduling_end(void) {
    if (__contech_scheduling_end) __contech_scheduling_end();
}
static inline void contech_phase_begin(const char *name) {
    if (__contech_phase_begin) __contech_phase_begin(name);
}
static inline void contech_phase_end(void) {
    if (__contech_phase_end) __contech_phase_end();
}
static inline void contech_region_begin(void) {
    if (__contech_region_begin) __contech_region_begin();
}
static inline void contech_region_end(void) {
    if (__contech_region_end) __contech_region_end();
}

#ifdef __cplusplus
}
#endif
#endif
