//! Programs built with a sanitizer and the drivers together: their output is that without the
//! recording, and the sanitizer finds nothing in the code that records.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use contech_tests::process::{Finished, run, same};
use contech_tests::recording::Recording;
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;

/// They use threads, mutexes and conditions, spin locks, atomic operations, and exceptions.
const PROGRAMS: [&str; 5] =
    ["create_join.c", "queue.c", "spin.c", "atomic_kinds.c", "cxx_exceptions.cpp"];

fn as_natively(sanitizer: &str) -> Result<()> {
    let scratch = Scratch::new(&format!("sanitizers/{sanitizer}"))?;
    let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("programs");
    for name in PROGRAMS {
        let source = programs.join(name);
        let dir = scratch.subdir(name)?;
        let sanitizer = format!("-fsanitize={sanitizer}");
        let flags = ["-O1", "-g", "-w", "-pthread", &sanitizer];
        let mut native = Toolchain::native().compile(&source, &flags, &dir.join("native"))?;
        let mut recorded = Toolchain::contech().compile(&source, &flags, &dir.join("recorded"))?;
        let wanted = run(&mut native)?;
        let recording = Recording::of(&mut recorded, &dir.join("traces"))?;
        same(&wanted, &recording.run, Finished::said).context(name)?;
        ensure!(!recording.graphs(true)?.is_empty(), "{name}: nothing was recorded");
    }
    scratch.done()
}

#[test]
fn sanitizers_report_what_they_do_natively() -> Result<()> {
    ["thread", "address", "undefined"].into_iter().try_for_each(as_natively)
}
