//! Every environment variable that some part of Contech reads, in one table. The help prints the
//! table, the reference copies it, and a test compares it with the sources.

use std::fmt::Write as _;

/// A name, the value that applies when the variable is not set (if there is one), and what the
/// variable does.
pub(crate) type Variable = (&'static str, &'static str, &'static str);

/// The variables of users, grouped by the part that reads them.
pub(crate) const USERS: [(&str, &[Variable]); 3] = [
    (
        "the compilers",
        &[
            (
                "CONTECH_OPTIONS",
                "",
                "the options above, for builds that own their flags; the command line wins",
            ),
            (
                "CONTECH_CLANG",
                "clang-22",
                "path of clang 22; without it /usr/lib/llvm-22/bin/clang is tried, too",
            ),
            (
                "CONTECH_FLANG",
                "flang-22",
                "path of flang 22; without it /usr/lib/llvm-22/bin/flang is tried, too",
            ),
            (
                "CONTECH_HOME",
                "",
                "folder of the libraries (libcontech_instrument.so, libcontech_rt.so, ...), of include and of \
                contech-middle; without it they are searched in the folder of the command, and in ../lib from there",
            ),
        ],
    ),
    (
        "a recorded program",
        &[
            (
                "CONTECH_TRACE",
                "trace.bin",
                "where the trace goes: a path in which %p is the process id and %r the MPI rank; with null the \
                records are thrown away; - is standard output; fd:NUMBER is an open file",
            ),
            ("CONTECH_OFF", "0", "1: run untraced"),
            ("CONTECH_BUFFER", "1M", "buffer of each thread, 32K to 256M"),
            (
                "CONTECH_MEMORY",
                "90%",
                "how much may wait for the disk before the program is paused: a size, or a share of the memory",
            ),
            (
                "CONTECH_STATS",
                "",
                "file for the counts of what was recorded (bytes, events, pauses), as JSON",
            ),
            (
                "CONTECH_ROI",
                "0",
                "1: record accesses only in the region that the program marks (contech/observe.h, or --contech-region=FUNCTION \
                when it is compiled); time:2s-3s: only in this \
                time of the run, in each thread from its next event or call on; order and times are always recorded",
            ),
            (
                "CONTECH_SAMPLE",
                "1",
                "1/10: record accesses in one of ten windows of a millisecond, chosen by chance, the same for all threads; \
                order and times are always recorded, and every result says how much it has",
            ),
            (
                "CONTECH_LIMIT",
                "auto",
                "how long the trace may become, like 2G or none, before accesses are left out; order and times go on, and \
                every result says so; auto is 8G or half of the free space, whichever is less",
            ),
        ],
    ),
    (
        "a program built with --contech-mode=workspan",
        &[
            ("CONTECH_PROFILE", "workspan.json", "where the profile goes"),
            (
                "CONTECH_METRIC",
                "time",
                "what is measured: time, or ops (IR instructions, exactly those of a recording)",
            ),
        ],
    ),
];

/// The variables that the tools set for each other, and those of developers.
pub(crate) const DEVELOPERS: [(&str, &[Variable]); 4] = [
    (
        "the tools",
        &[(
            "CONTECH_LOG",
            "",
            "says on standard error how long each step took: debug, or contech_middle=debug for one crate",
        )],
    ),
    (
        "the recorder (it sets it itself)",
        &[(
            "CONTECH_AGAIN",
            "",
            "set by the runtime for the second start of a program that was loaded where its block ids are reserved; the \
                program does not see it",
        )],
    ),
    (
        "the observer (contech scale sets them)",
        &[(
            "CONTECH_OBSERVE",
            "",
            "where the observation goes; if it is not set, nothing is observed",
        )],
    ),
    (
        "the pass (the compilers and the tests set them)",
        &[("CONTECH_PASS_OPTIONS", "", "the options of the pass, comma-separated")],
    ),
];

/// Width of a line, and the column where the text begins.
const WIDTH: usize = 110;
const TEXT: usize = 24;

/// What the help says of these variables.
pub(crate) fn text(table: &[(&str, &[Variable])]) -> String {
    let mut text = String::new();
    for (reader, variables) in table {
        let _ = writeln!(text, "\nEnvironment of {reader}:");
        for (name, default, does) in *variables {
            let default = match *default {
                "" => String::new(),
                value => format!(" (default: {value})"),
            };
            let mut line = format!("  {name:<22}");
            for word in format!("{does}{default}").split_whitespace() {
                if line.len() + 1 + word.len() > WIDTH {
                    let _ = writeln!(text, "{}", line.trim_end());
                    line = " ".repeat(TEXT);
                }
                if line.len() > TEXT {
                    line.push(' ');
                }
                line.push_str(word);
            }
            let _ = writeln!(text, "{}", line.trim_end());
        }
    }
    text
}
