//! `--contech-help`, and what is added to the compiler's own `--help` and `--version`.

use std::ffi::OsString;

use crate::{Language, environment};

/// What the driver says after the compiler has answered `--version` or `--help`.
pub(crate) fn answer(language: Language, arguments: &[OsString]) -> Option<String> {
    let asks = |word: &str| arguments.iter().any(|argument| argument == word);
    let driver = language.driver();
    let version = version();
    if asks("--version") {
        Some(format!("Contech {version}: {driver} makes programs that record their task graph\n"))
    } else if asks("--help") {
        Some(format!(
            "\nContech {version} adds to these options (see {driver} --contech-help):\n{OPTIONS}"
        ))
    } else {
        None
    }
}

/// The version of the tools and of the traces that programs record.
pub(crate) fn version() -> String {
    let (tools, trace) = (env!("CARGO_PKG_VERSION"), contech_trace::file::VERSION);
    format!("{tools} (trace format {trace})")
}

/// The options, one paragraph each.
const OPTIONS: &str = "\
  --contech-mode=full   record blocks, addresses, synchronisation and time (default)
  --contech-mode=sync   record synchronisation and time only
  --contech-mode=workspan
                        record nothing; profile work and span of a fork-join program that runs serially, with
                        contech/cilk.h. The program writes $CONTECH_PROFILE (workspan.json) when it ends, unless
                        by a signal, in time or, with CONTECH_METRIC=ops, in operations
  --contech-naive       record every block and every address as such
  --contech-fast        record paths and the values that addresses follow from, which decodes to the same;
                        a function for which that is not exact has the naive form (default)
  --contech-check       record both forms in one run; contech-middle compares them
  --contech-atomics=ordered  which atomic operations order the program: all but relaxed ones, and relaxed
                        ones too in files with fences (default); =all: every one; =none: none
  --contech-explain     say for each function what is recorded, what is not, and why
  --contech-region=FUNCTION  make the function a region of interest: the time from its entry until it returns or
                        throws, in any thread (C++: name it without parameters, or as the linker does). The graph
                        says when it ran; with CONTECH_ROI=1 only its accesses are recorded
  --contech-bitcode     at a link, instrument the LLVM bitcode among the objects and in the archives, which cargo
                        contech has rustc write
  --contech-help        this text; =developers: the variables that users need not know
";

/// What the driver adds to clang.
pub(crate) fn text(language: Language) -> String {
    let driver = language.driver();
    let compiler = match language {
        Language::C | Language::Cxx => "clang",
        Language::Fortran => "flang",
    };
    format!(
        "\
{driver}: {compiler} 22 that makes the program record its task graph when it runs.
Usage: {driver} [--contech-OPTION ...] <any {compiler} arguments>

contech-cc is for C, contech-c++ for C++, contech-fc for Fortran: CC=contech-cc CXX=contech-c++ FC=contech-fc

{OPTIONS}
Everything else goes to {compiler} unchanged.
{}",
        environment::USERS
    )
}
