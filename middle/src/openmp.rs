//! What OMPT's numbers mean in a graph.

use taskgraph::SyncOp;

/// The operation of a dependence; its type stands from bit 32 on.
pub(crate) fn dependence(aux: u64) -> SyncOp {
    match kind(aux) {
        1 => SyncOp::DependIn,
        4 => SyncOp::DependMutexinoutset,
        7 => SyncOp::DependInoutset,
        _ => SyncOp::DependInout,
    }
}

/// Type of a dependence (`ompt_dependence_type_t`).
pub(crate) fn kind(aux: u64) -> u64 {
    aux >> 32
}

/// The mark of a worksharing construct (`ompt_work_t`, and what the runtime adds).
pub(crate) fn work(aux: u64) -> SyncOp {
    match aux {
        2 => SyncOp::Sections,
        3 => SyncOp::Single,
        7 => SyncOp::Taskloop,
        100 => SyncOp::Masked,
        101 => SyncOp::Cancel,
        1 | 6 | 10..=13 => SyncOp::Loop,
        _ => SyncOp::Other,
    }
}
