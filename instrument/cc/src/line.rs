//! What a clang or flang command line will do: compile code, link, or neither.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::{Language, response};

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Line {
    /// clang will turn a source or bitcode file into code.
    pub(crate) compiles: bool,
    /// clang will run the linker.
    pub(crate) links: bool,
    /// The code is for no operating system (`-ffreestanding`, kernel code model), so the driver
    /// leaves it alone.
    pub(crate) freestanding: bool,
    /// The link makes a relocatable object (`-r`).
    pub(crate) relocatable: bool,
    /// The link leaves out the standard libraries or start files.
    pub(crate) no_standard: bool,
    pub(crate) mpi: bool,
    /// The flag that asks for a static executable.
    pub(crate) fully_static: Option<String>,
    /// `-fcoarray`: the program uses images, for which there is no run-time library.
    pub(crate) coarrays: bool,
    /// The link needs LLVM's OpenMP library.
    pub(crate) openmp: bool,
    /// Objects and archives that are linked, by their paths.
    pub(crate) files: Vec<PathBuf>,
}

/// Options whose value is the next argument, but for those of other systems and of accelerators.
const WITH_VALUE: &[&str] = &[
    "--config",
    "--include",
    "--param",
    "--serialize-diagnostics",
    "--sysroot",
    "-A",
    "-B",
    "-D",
    "-G",
    "-I",
    "-J",
    "-L",
    "-MF",
    "-MJ",
    "-MQ",
    "-MT",
    "-T",
    "-U",
    "-Xanalyzer",
    "-Xassembler",
    "-Xclang",
    "-Xflang",
    "-Xlinker",
    "-Xoffload-linker",
    "-Xopenmp-target",
    "-Xpreprocessor",
    "-Xthinlto",
    "-add-plugin",
    "-aux-info",
    "-b",
    "-ccc-gcc-name",
    "-ccc-install-dir",
    "-cxx-isystem",
    "-dependency-dot",
    "-dependency-file",
    "-dumpdir",
    "-e",
    "-fdebug-compilation-dir",
    "-fintrinsic-modules-path",
    "-fmodule-implementation-of",
    "-fmodules-user-build-path",
    "-ftrapv-handler",
    "-gen-cdb-fragment-path",
    "-idirafter",
    "-imacros",
    "-imultilib",
    "-include",
    "-include-pch",
    "-iprefix",
    "-iquote",
    "-isysroot",
    "-isystem",
    "-isystem-after",
    "-ivfsoverlay",
    "-iwithprefix",
    "-iwithprefixbefore",
    "-iwithsysroot",
    "-l",
    "-load",
    "-mllvm",
    "-mmlir",
    "-module-dir",
    "-mthread-model",
    "-o",
    "-plugin",
    "-resource-dir",
    "-rpath",
    "-serialize-diagnostics",
    "-stdlib++-isystem",
    "-target",
    "-u",
    "-vfsoverlay",
    "-working-directory",
    "-x",
    "-z",
];

/// Options after which clang stops before making code or linking.
const STOPS: &[&str] = &[
    "--analyze",
    "--help",
    "--help-hidden",
    "--precompile",
    "--version",
    "-E",
    "-M",
    "-MM",
    "-cc1",
    "-cc1as",
    "-cc1gen-reproducer",
    "-dumpmachine",
    "-dumpversion",
    "-emit-ast",
    "-extract-api",
    "-fc1",
    "-fsyntax-only",
    "-help",
    "-module-file-info",
    "-verify-pch",
    "--analyzer-output",
];

/// Options after which clang makes code but does not link.
const NO_LINK: &[&str] =
    &["-S", "-c", "--assemble", "--compile", "-emit-interface-stubs", "-fdriver-only"];

/// Extensions of files that become code through the optimiser.
const CODE: &[&str] = &[
    "C", "CC", "CPP", "CXX", "M", "bc", "c", "c++", "c++m", "cc", "ccm", "clcpp", "cl", "cp",
    "cpp", "cppm", "cu", "cxx", "cxxm", "hip", "i", "ii", "iim", "ixx", "ll", "m", "mi", "mii",
    "mm",
];

/// Extensions of Fortran sources. clang leaves them to gcc; flang compiles them.
const FORTRAN: &[&str] = &[
    "F", "F03", "F08", "F77", "F90", "F95", "FOR", "FPP", "FTN", "f", "f03", "f08", "f77", "f90",
    "f95", "for", "fpp", "ftn",
];

/// Languages of `-x` that make no code.
const NOT_CODE: &[&str] = &[
    "assembler",
    "assembler-with-cpp",
    "c++-header",
    "c++-header-unit-header",
    "c++-system-header",
    "c++-user-header",
    "c-header",
    "objective-c++-header",
    "objective-c-header",
];

/// Classifies the arguments of a driver, of which response files are expanded.
pub(crate) fn classify(language: Language, words: &[OsString]) -> Line {
    let mut state = State { fortran: language == Language::Fortran, ..State::default() };
    let mut words = words.iter().map(|a| a.to_string_lossy());
    while let Some(word) = words.next() {
        if word == "--" {
            words.by_ref().for_each(|w| state.input(&w));
        } else if word == "-x" || word == "--language" {
            state.language(&words.next().unwrap_or_default());
        } else if WITH_VALUE.contains(&&*word) || word.starts_with("-Xarch_") {
            let linker = word == "-l";
            let value = words.next();
            state.inputs |= linker && value.is_some();
            state.line.mpi |= linker && value.is_some_and(|name| name.starts_with("mpi"));
        } else {
            state.word(&word);
        }
    }
    state.line()
}

/// Flags that ask for a static executable.
const STATIC: &[&str] = &["-static", "--static", "-static-pie"];

/// The arguments without [`STATIC`] flags; response files are replaced by their words.
pub(crate) fn without_static(arguments: &[OsString]) -> Vec<OsString> {
    let mut value = false;
    let mut words = response::expand(arguments);
    words.retain(|word| {
        let word = word.to_string_lossy();
        let is_value = std::mem::take(&mut value);
        value = !is_value && WITH_VALUE.contains(&&*word);
        is_value || !STATIC.contains(&&*word)
    });
    words
}

#[derive(Default)]
struct State {
    line: Line,
    fortran: bool,
    language: Option<String>,
    inputs: bool,
    sources: bool,
    stops: bool,
    no_link: bool,
}

impl State {
    fn word(&mut self, word: &str) {
        if word == "-" || !word.starts_with('-') {
            return self.input(word);
        }
        let print = word.starts_with("-print-") || word.starts_with("--print-");
        if STOPS.contains(&word) || print || word.starts_with("--autocomplete=") {
            self.stops = true;
        } else if NO_LINK.contains(&word) {
            self.no_link = true;
        } else if let Some(language) =
            word.strip_prefix("-x").or_else(|| word.strip_prefix("--language="))
        {
            self.language(language);
        } else if word.starts_with("-l") || word.starts_with("-Wl,") {
            self.inputs |= word.starts_with("-l");
            self.line.mpi |= word.starts_with("-lmpi") || word.starts_with("-lfmpi");
        } else {
            self.flag(word);
        }
    }

    fn flag(&mut self, word: &str) {
        match word {
            "-ffreestanding" | "-mcmodel=kernel" | "-fno-hosted" => self.line.freestanding = true,
            "-fhosted" | "-fno-freestanding" => self.line.freestanding = false,
            "-r" => self.line.relocatable = true,
            "-nostdlib" | "--no-standard-libraries" | "-nostartfiles" | "-nodefaultlibs" => {
                self.line.no_standard = true;
            }
            "-fcoarray" => self.line.coarrays = true,
            "-fno-coarray" => self.line.coarrays = false,
            "-fopenmp" | "-fopenmp=libomp" => self.line.openmp = true,
            "-fno-openmp" | "-fopenmp=libgomp" | "-fopenmp=libiomp5" | "-static-openmp" => {
                self.line.openmp = false;
            }
            _ if STATIC.contains(&word) => self.line.fully_static = Some(word.to_owned()),
            _ => {}
        }
    }

    fn language(&mut self, language: &str) {
        self.language = Some(language.to_owned()).filter(|l| l != "none");
    }

    fn input(&mut self, path: &str) {
        self.inputs = true;
        // Builds by CMake name the file itself: libmpi.so, libmpich.so.12, libmpi_mpifh.so.
        let name = path.rsplit('/').next().unwrap_or(path);
        if name.ends_with(".o") || name.ends_with(".a") {
            self.line.files.push(path.into());
        }
        self.line.mpi |= name.starts_with("libmpi") && name.contains(".so");
        self.sources |= match &self.language {
            Some(language) => !NOT_CODE.contains(&language.as_str()),
            None => path
                .rsplit_once('.')
                .is_some_and(|(_, e)| CODE.contains(&e) || self.fortran && FORTRAN.contains(&e)),
        };
    }

    fn line(self) -> Line {
        let runs = self.inputs && !self.stops;
        Line { compiles: runs && self.sources, links: runs && !self.no_link, ..self.line }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Line {
        of_driver(Language::C, line)
    }

    fn of_driver(language: Language, line: &str) -> Line {
        classify(
            language,
            &line.split(' ').filter(|w| !w.is_empty()).map(OsString::from).collect::<Vec<_>>(),
        )
    }

    #[test]
    fn command_lines_are_classified_as_clang_treats_them() {
        // (arguments, compiles, links)
        for (line, compiles, links) in [
            ("-c a.c", true, false),
            ("a.c", true, true),
            ("a.c b.c -o prog -lm", true, true),
            ("-S -emit-llvm a.c", true, false),
            ("-E a.c", false, false),
            ("-M a.c", false, false),
            ("-MM -MT x.o a.c", false, false),
            ("-MD -MF a.d -c a.c", true, false),
            ("-fsyntax-only a.c", false, false),
            ("--analyze a.c", false, false),
            ("a.o b.o libx.a -o prog", false, true),
            ("-shared a.o -o libx.so", false, true),
            ("a.o b.c", true, true),
            ("-c a.s", false, false),
            ("-c a.S", false, false),
            ("a.s", false, true),
            ("-x c - -c", true, false),
            ("-xc -", true, true),
            ("-x c -E -", false, false),
            ("-x assembler-with-cpp -c a.c", false, false),
            ("-x c a.inc -x none b.o", true, true),
            ("-x none a.o", false, true),
            ("-x c-header a.h", false, true),
            ("-c -x c++ a.h", true, false),
            ("--language=c -c a.inc", true, false),
            ("-o a.c b.o", false, true),
            ("-include a.c -c b.s", false, false),
            ("-I a.c -D b.c -c c.s", false, false),
            ("-Xclang a.c -c c.s", false, false),
            ("-lfoo", false, true),
            ("-l foo", false, true),
            ("-c -- a.c", true, false),
            ("a.bc -o a", true, true),
            ("-c a.ll", true, false),
            ("-c a.cppm", true, false),
            ("--precompile a.cppm", false, false),
            ("", false, false),
            ("-v", false, false),
            ("--version", false, false),
            ("--help", false, false),
            ("-dumpmachine", false, false),
            ("-print-search-dirs", false, false),
            ("--print-file-name=libc.a a.c", false, false),
            ("-cc1 -emit-obj a.c", false, false),
            ("-### a.c", true, true),
            ("-Wl,-z,defs -O2", false, false),
        ] {
            let got = of(line);
            assert_eq!((got.compiles, got.links), (compiles, links), "{line}");
        }
    }

    #[test]
    fn fortran_sources_are_code_for_the_fortran_driver_only() {
        for (line, compiles, links) in [
            ("-c a.f90", true, false),
            ("a.F90 b.f -J mods -o p", true, true),
            ("-module-dir a.f90 b.o", false, true),
            ("-fsyntax-only a.f90", false, false),
            ("-E a.F", false, false),
            ("-fc1 -emit-obj a.f90", false, false),
            ("-x f95 - -c", true, false),
        ] {
            let got = of_driver(Language::Fortran, line);
            assert_eq!((got.compiles, got.links), (compiles, links), "{line}");
        }
        assert!(!of("-c a.f90").compiles, "clang gives it to gcc");
        assert!(of_driver(Language::Fortran, "-fcoarray a.f90").coarrays);
    }

    #[test]
    fn flags_that_change_the_link_are_seen() {
        for flag in ["-static", "--static", "-static-pie"] {
            let line = of(&format!("{flag} a.c"));
            assert_eq!(line.fully_static.as_deref(), Some(flag));
        }
        assert_eq!(of("-static-libgcc -static-libstdc++ a.c").fully_static, None);
        assert!(of("-r a.o b.o -o c.o").relocatable);
        assert!(of("-nostdlib a.o").no_standard && of("-nostartfiles a.o").no_standard);
        assert!(!of("-o -nostdlib a.o").no_standard, "a value is no flag");
    }

    #[test]
    fn a_link_with_mpi_is_seen_however_it_is_named() {
        for line in [
            "a.o -lmpi",
            "a.o -l mpi",
            "a.o -L/x -lmpich",
            "a.o -lmpi_mpifh -lmpi",
            "a.o /usr/lib/x86_64-linux-gnu/openmpi/lib/libmpi.so",
            "a.o libmpich.so.12",
        ] {
            assert!(of(line).mpi, "{line}");
        }
        for line in ["a.o -lm", "a.o -o libmpi.so", "-c mpi.c", "a.o -lgmp"] {
            assert!(!of(line).mpi, "{line}");
        }
    }

    #[test]
    fn the_last_of_hosted_and_freestanding_counts() {
        assert!(of("-c -ffreestanding a.c").freestanding);
        assert!(!of("-c -ffreestanding -fhosted a.c").freestanding);
        assert!(of("-c -mcmodel=kernel a.c").freestanding);
    }
}
