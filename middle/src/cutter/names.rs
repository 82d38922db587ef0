//! Kind and operation of a task in the graph, by what the trace calls it.

use contech_trace::event::SyncOp;
use taskgraph::TaskKind;

use crate::mpi;

pub(super) fn kind(op: SyncOp, aux: u64) -> TaskKind {
    match op {
        SyncOp::MpiMeet if mpi::is_barrier(aux) => TaskKind::Barrier,
        SyncOp::ThreadCreate => TaskKind::Create,
        SyncOp::ThreadJoin => TaskKind::Join,
        SyncOp::BarrierWait => TaskKind::Barrier,
        SyncOp::TeamCreate | SyncOp::TaskCreate => TaskKind::Create,
        SyncOp::TeamJoin
        | SyncOp::TaskWait
        | SyncOp::TaskJoin
        | SyncOp::TaskgroupEnd
        | SyncOp::TasksJoin => TaskKind::Join,
        _ => TaskKind::Sync,
    }
}

pub(super) fn operation(op: SyncOp, aux: u64) -> taskgraph::SyncOp {
    use taskgraph::SyncOp as To;
    match op {
        SyncOp::ThreadCreate => To::ThreadCreate,
        SyncOp::ThreadJoin => To::ThreadJoin,
        SyncOp::MutexLock => To::MutexLock,
        SyncOp::MutexUnlock => To::MutexUnlock,
        SyncOp::RwRead => To::RwRead,
        SyncOp::RwWrite => To::RwWrite,
        SyncOp::RwUnlock => To::RwUnlock,
        SyncOp::SpinLock => To::SpinLock,
        SyncOp::SpinUnlock => To::SpinUnlock,
        SyncOp::CondRelease => To::CondRelease,
        SyncOp::CondWake => To::CondWake,
        SyncOp::CondTimeout => To::CondTimeout,
        SyncOp::CondReacquire => To::CondReacquire,
        SyncOp::CondSignal => To::CondSignal,
        SyncOp::CondBroadcast => To::CondBroadcast,
        SyncOp::SemWait => To::SemWait,
        SyncOp::SemPost => To::SemPost,
        SyncOp::OnceRun => To::OnceRun,
        SyncOp::OncePass => To::OncePass,
        SyncOp::BarrierWait => To::Barrier,
        // Corrected in pass 2, where the kind of the object is known.
        SyncOp::TryFail => To::MutexTryFail,
        SyncOp::Fork => To::Fork,
        SyncOp::AtomicLoad => To::AtomicLoad,
        SyncOp::AtomicStore => To::AtomicStore,
        SyncOp::AtomicRmw => To::AtomicRmw,
        SyncOp::AtomicFail => To::AtomicFail,
        SyncOp::Fence => To::Fence,
        SyncOp::FutexWait => To::FutexWait,
        SyncOp::FutexTimeout => To::FutexTimeout,
        SyncOp::FutexWake => To::FutexWake,
        SyncOp::TeamCreate => To::ParallelBegin,
        SyncOp::TeamJoin => To::ParallelEnd,
        SyncOp::TaskCreate => To::TaskCreate,
        SyncOp::TaskWait => To::TaskWait,
        SyncOp::TaskJoin => To::TaskJoin,
        SyncOp::TaskgroupEnd => To::TaskgroupEnd,
        SyncOp::TasksJoin => To::TasksJoin,
        SyncOp::Fulfill => To::Fulfill,
        SyncOp::OmpLock => To::OmpLock,
        SyncOp::OmpUnlock => To::OmpUnlock,
        SyncOp::CriticalEnter => To::CriticalEnter,
        SyncOp::CriticalExit => To::CriticalExit,
        SyncOp::OrderedEnter => To::OrderedEnter,
        SyncOp::OrderedExit => To::OrderedExit,
        SyncOp::Reduction => To::Reduction,
        SyncOp::DoacrossPost => To::DoacrossPost,
        SyncOp::DoacrossWait => To::DoacrossWait,
        SyncOp::WorkEnd => To::WorkEnd,
        SyncOp::MpiSend => To::MpiSend,
        SyncOp::MpiRecv => To::MpiRecv,
        SyncOp::MpiWait => To::MpiWait,
        SyncOp::MpiMark => mpi::mark(aux),
        SyncOp::MpiMeet | SyncOp::MpiEnd => mpi::collective(aux),
        SyncOp::MpiBegin => To::MpiBegin,
        SyncOp::Depend => crate::openmp::dependence(aux),
        SyncOp::Work => crate::openmp::work(aux),
        SyncOp::ObjectInit
        | SyncOp::ObjectDestroy
        | SyncOp::TaskgroupBegin
        | SyncOp::AtomicSpun => To::Other,
    }
}
