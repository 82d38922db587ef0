//! What the observer measured in one process: the file that `libcontech_observe.so` leaves and
//! `contech scale` reads. It is an [`Observation`] as JSON. Its size is bounded by the threads that
//! lived at the same time, the places that created phases or waited, and the bins of the time line.
//! It does not grow with the duration of the run. The library and the reader are of one build, so
//! there are no versions.
//!
//! ## What the numbers mean
//!
//! Times are nanoseconds of the processor's time stamp counter, calibrated against the system's
//! clock over the run. Time zero is the start of `main`, and the end is the exit of the process.
//! With a region of interest they are the region's first begin and last end.
//!
//! A *lane* is a row of the activity graph. It has one thread at a time; a thread that begins takes
//! the first free lane. The states of a lane add up to the time in which it had a thread. Time
//! without a thread is not counted.
//!
//! A *phase* is a parallel phase, from fork to join: an outermost OpenMP parallel region, or the
//! lifetime of threads that `pthread_create` made and that are joined later, or a phase that the
//! program marked (`contech_phase_begin`, `_end`). Phases of one place are added up. The states of
//! a phase are those of its threads while they take part in it. Their wait at the end of the phase
//! counts as `Barrier` or `Join` until the phase ends.
//!
//! A wait that begins while the thread is already idle, scheduling or waiting counts as a part of
//! that state. A task that runs within a wait counts as running. The part of a wait before a task
//! begins counts as `Scheduling` if it took less than 10,000 ticks (some four microseconds),
//! because the task was ready. A wait for tasks of less than 1,000 ticks also counts as
//! `Scheduling`, because there was no task to wait for. libomp's making of tasks and handing out of
//! iterations is timed at about every 16th call of a thread. The measured time stands for all calls
//! since the last timed one, and is subtracted from the state before the call. A `Spin` of no time
//! counts yields of the processor.
//!
//! With a region of interest, times count only within the region, and its occurrences are added up;
//! processor time and switches are those of whole threads. Between the end of a thread and the next
//! thread of its lane no time is counted. A process that forks is observed, and its child is not. A
//! process leaves a file if it ends by `exit`, `_exit`, `quick_exit` or a signal that it does not
//! handle. SIGKILL leaves no file.
#![forbid(unsafe_code)]

mod model;

pub use model::{Lane, Model, Module, Observation, Phase, Place, State, Times, WaitSite};
