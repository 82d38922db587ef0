//! The source line of an instruction that the compiler inlined from elsewhere. The pass, the
//! on-line profiler and the measurements follow this one rule, so that they name the same lines.

/// The folders of libraries' headers.
const HEADERS: [&str; 3] = ["/usr/include/", "/usr/lib/", "/usr/local/include/"];

/// How the paths of Rust's standard library and of the crates in it begin, as the toolchain was
/// built, and what is in them with its sources installed.
const BUILT: [&str; 2] = ["/rustc/", "/rust/deps/"];
const INSTALLED: &str = "/lib/rustlib/src/rust/library/";
/// What the paths of crates have in them that cargo got for the program.
const CRATES: [&str; 2] = ["/registry/src/", "/git/checkouts/"];

/// Whether a file is a header of a library, or belongs to Rust's standard library or to a crate
/// that the program uses, where nobody looks for the cost of a program.
#[must_use]
pub fn is_library(file: &str) -> bool {
    HEADERS.iter().chain(&BUILT).any(|folder| file.starts_with(folder))
        || file.contains("/include/c++/")
        || file.contains(INSTALLED)
        || CRATES.iter().any(|folder| file.contains(folder))
}

/// Whether the compiler's name of a module is that of a source file. rustc's is of a unit of its
/// own, such as `core.b662226d77c6ee8e-cgu.0`.
#[must_use]
pub fn is_file(module: &str) -> bool {
    let end = module.rsplit_once('.').and_then(|(_, end)| end.chars().next());
    end.is_some_and(|first| first.is_ascii_alphabetic())
}

/// The file and line to show for frames (file and line), which come innermost first. It is the
/// innermost frame in the file of the function that contains the instruction or, if that file is a
/// library's, in a file of the program. If there is no such frame, it is the outermost one.
#[must_use]
pub fn shown<'a>(frames: &[(&'a str, u32)]) -> Option<(&'a str, u32)> {
    let outermost = frames.last()?;
    let library = is_library(outermost.0);
    let good = |&&(file, line): &&(&str, u32)| {
        let here = if library { !is_library(file) } else { file == outermost.0 };
        here && line != 0
    };
    Some(*frames.iter().find(good).unwrap_or(outermost))
}

#[cfg(test)]
mod tests {
    use super::{is_file, shown};

    const THREAD: &str =
        "/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/bits/std_thread.h";
    const VECTOR: &str = "/usr/include/c++/12/bits/stl_vector.h";

    const MUTEX: &str = "/rustc/5980/library/std/src/sync/poison/mutex.rs";
    const SPAWN: &str =
        "/home/u/.rustup/toolchains/stable/lib/rustlib/src/rust/library/std/src/sys/backtrace.rs";

    #[test]
    fn the_innermost_line_of_the_functions_file_is_shown() {
        assert_eq!(shown(&[("/a.cpp", 7)]), Some(("/a.cpp", 7)));
        assert_eq!(shown(&[("/a.cpp", 7), ("/a.cpp", 20)]), Some(("/a.cpp", 7)));
        assert_eq!(shown(&[(VECTOR, 1043), ("/a.cpp", 9), ("/a.cpp", 20)]), Some(("/a.cpp", 9)));
        assert_eq!(shown(&[("/a.hpp", 3), ("/a.cpp", 20)]), Some(("/a.cpp", 20)));
        assert_eq!(shown(&[]), None);
    }

    #[test]
    fn the_programs_line_is_shown_of_what_a_library_took_in() {
        let lambda = [(VECTOR, 1043), ("/a.cpp", 9), ("/a.cpp", 20), (THREAD, 210)];
        assert_eq!(shown(&lambda), Some(("/a.cpp", 9)));
        assert_eq!(shown(&[(VECTOR, 1043), (THREAD, 210)]), Some((THREAD, 210)));
        let closure = [(MUTEX, 720), ("/main.rs", 10), (SPAWN, 166)];
        assert_eq!(shown(&closure), Some(("/main.rs", 10)));
    }

    #[test]
    fn a_unit_of_rustc_is_no_file() {
        assert!(is_file("src/inflate.c") && is_file("/a.f90") && is_file("b.C"));
        assert!(!is_file("miniz_oxide.b662226d77c6ee8e-cgu.0") && !is_file("47aquxj2"));
    }
}
