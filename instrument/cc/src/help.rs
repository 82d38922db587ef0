//! `--contech-help`.

use crate::{Language, environment};

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

  --contech-mode=full   record blocks, addresses, synchronisation and time (default)
  --contech-mode=sync   record synchronisation and time only
  --contech-mode=workspan
                        no recording: the work/span profile of a fork-join program that runs serially: contech/cilk.h,
                        or OpenMP's loops, sections and tasks with OMP_NUM_THREADS=1; written when it ends (by a
                        signal, too) and on SIGUSR2 to $CONTECH_PROFILE (workspan.json), in time or, with
                        CONTECH_METRIC=ops, in operations
  --contech-naive       record every block and every address as such
  --contech-fast        record paths and the values addresses come from, which decodes to the same, and as
                        the naive form where that is not exact (default)
  --contech-check       record both in one run; contech-middle compares them
  --contech-atomics=ordered  atomic operations order the program: all but relaxed ones, and those
                        too in files with fences (default); =all: every one; =none: accesses only
  --contech-explain     say per function what is recorded, and what is not and why
  --contech-help        this text

Everything else, --help and --version included, goes to {compiler} unchanged.
{}",
        environment::text()
    )
}
