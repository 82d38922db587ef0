//! Every environment variable that some part of Contech reads, as the help prints it. The reference
//! copies it, and a test compares it with the sources. A value in brackets applies when the variable
//! is not set.

/// The variables of users, grouped by the part that reads them.
pub(crate) const USERS: &str = "
Environment of the compilers:
  CONTECH_OPTIONS       the options above, for builds that own their flags; the command line wins
  CONTECH_CLANG         path of clang 22; without it /usr/lib/llvm-22/bin/clang is tried, too (default:
                        clang-22)
  CONTECH_FLANG         path of flang 22; without it /usr/lib/llvm-22/bin/flang is tried, too (default:
                        flang-22)
  CONTECH_HOME          folder of the libraries (libcontech_instrument.so, libcontech_rt.so, ...), of include
                        and of contech-middle; without it they are searched in the folder of the command, and
                        in ../lib from there

Environment of a recorded program:
  CONTECH_TRACE         where the trace goes: a path in which %p is the process id and %r the MPI rank; with
                        null the records are thrown away; - is standard output; fd:NUMBER is an open file
                        (default: trace.bin)
  CONTECH_OFF           1: run untraced (default: 0)
  CONTECH_BUFFER        buffer of each thread, 32K to 256M (default: 1M)
  CONTECH_MEMORY        how much may wait for the disk before the program is paused: a size, or a share of the
                        memory (default: 90%)
  CONTECH_STATS         file for the counts of what was recorded (bytes, events, pauses), as JSON
  CONTECH_ROI           1: record accesses only in the region that the program marks (contech/observe.h, or
                        --contech-region=FUNCTION when it is compiled); time:2s-3s: only in this time of the
                        run, in each thread from its next event or call on; order and times are always
                        recorded (default: 0)
  CONTECH_SAMPLE        1/10: record accesses in one of ten windows of a millisecond, chosen by chance, the
                        same for all threads; order and times are always recorded, and every result says how
                        much it has (default: 1)
  CONTECH_LIMIT         how long the trace may become, like 2G or none, before accesses are left out; order
                        and times go on, and every result says so; auto is 8G or half of the free space,
                        whichever is less (default: auto)

Environment of a program built with --contech-mode=workspan:
  CONTECH_PROFILE       where the profile goes (default: workspan.json)
  CONTECH_METRIC        what is measured: time, or ops (IR instructions, exactly those of a recording)
                        (default: time)
";

/// The variables that the tools set for each other, and those of developers.
pub(crate) const DEVELOPERS: &str = "
Environment of the tools:
  CONTECH_LOG           says on standard error how long each step took: debug, or contech_middle=debug for one
                        crate

Environment of the recorder (it sets it itself):
  CONTECH_AGAIN         set by the runtime for the second start of a program that was loaded where its block
                        ids are reserved; the program does not see it

Environment of the observer (contech scale sets them):
  CONTECH_OBSERVE       where the observation goes; if it is not set, nothing is observed

Environment of the pass (the compilers and the tests set them):
  CONTECH_PASS_OPTIONS  the options of the pass, comma-separated
";
