//! One program per module; the first argument names the one to run.

macro_rules! programs {
    ($($name:ident)*) => {
        $(mod $name;)*

        fn main() -> std::process::ExitCode {
            match std::env::args().nth(1).as_deref() {
                $(Some(stringify!($name)) => std::process::Termination::report($name::main()),)*
                other => panic!("no program {other:?}"),
            }
        }
    };
}

/// Runs a future on a runtime of two threads, and on one that runs in this thread.
fn on_both_runtimes<F: Future<Output = ()>>(future: impl Fn() -> F) {
    for mut builder in [
        tokio::runtime::Builder::new_multi_thread(),
        tokio::runtime::Builder::new_current_thread(),
    ] {
        let runtime = builder.worker_threads(2).enable_all().build().unwrap();
        runtime.block_on(future());
    }
}

programs! {
    arc_last_owner
    builder_small_stack
    c_part
    channel_rendezvous
    child_process
    condvar
    crossbeam
    executors
    main_panics
    mutex_poisoned
    numbers
    own_executor
    parking_lot
    racy_channel
    racy_rayon
    racy_read_lock
    racy_tokio
    rayon_fib
    rayon_merge_sort
    rayon_panics
    rayon_pools
    rayon_scope
    rayon_sort
    rayon_spawn
    threads_in_turn
    tokio_blocking
    tokio_channels
    tokio_local
    tokio_locks
    tokio_net
    tokio_panics
    tokio_tasks
    tokio_time
    waits
}
