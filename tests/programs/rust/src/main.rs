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

programs! {
    arc_last_owner
    atomic_publish
    atomic_spin_lock
    barrier
    builder_small_stack
    c_part
    catch_unwind
    channel
    channel_bounded
    channel_rendezvous
    child_process
    closures
    collections
    condvar
    condvar_timeout
    exit_code
    fence
    futures
    generics
    lazy_lock
    main_panics
    mutex
    mutex_poisoned
    mutex_try_lock
    numbers
    once
    own_executor
    output_of_threads
    park
    process_exit
    racy_cell
    racy_pointer
    racy_rayon
    racy_static
    racy_unlocked_read
    rayon_fib
    rayon_merge_sort
    rayon_panics
    rayon_pools
    rayon_scope
    rayon_sort
    rayon_spawn
    recursion
    rwlock
    scope
    scope_nested
    spawn_join
    thread_locals
    thread_panics
    thread_pool
    threads_in_turn
    weak
}
