//! A recorded program's allocations lie as they do natively: two counters in one cache line, or in
//! two, decide how it scales.

use anyhow::{Result, ensure};
use contech_tests::outputs::{output, workspace};
use contech_tests::process::run;
use contech_tests::scratch::Scratch;
use contech_tests::toolchain::Toolchain;

#[test]
fn allocations_are_where_they_are_natively() -> Result<()> {
    let scratch = Scratch::new("heap")?;
    let source = workspace().join("tests/programs/heap_places.cpp");
    let build = |tools: &Toolchain, mode: &[&str], to: &str| {
        let flags = [mode, &["-O2", "-pthread"]].concat();
        tools.compile(&source, &flags, &scratch.join(to))
    };
    let native = |to| build(&Toolchain::native(), &[], to);
    let expected = run(&mut native("native")?)?.ok()?.out();

    let observer = output("libcontech_observe.so");
    let mut observed = native("observed")?;
    observed.env("LD_PRELOAD", &observer).env("CONTECH_OBSERVE", scratch.join("run.obs"));
    let found = run(&mut observed)?.ok()?.out();
    ensure!(found == expected, "observed:\n{found}natively:\n{expected}");

    for mode in ["full", "sync"] {
        let option = format!("--contech-mode={mode}");
        let mut recorded = build(&Toolchain::contech(), &[&option], mode)?;
        recorded.env("CONTECH_TRACE", scratch.join("trace.bin"));
        let found = run(&mut recorded)?.ok()?.out();
        ensure!(found == expected, "{mode}:\n{found}natively:\n{expected}");
    }
    scratch.done()
}
