//! Which line of the source an instruction is shown at, when the compiler inlined what it is from. The pass, the
//! on-line profiler and the measurements follow this one rule, so that they name the same lines.

/// Where the headers of libraries are.
const HEADERS: [&str; 3] = ["/usr/include/", "/usr/lib/", "/usr/local/include/"];

/// Whether a file is a header of a library: nobody looks for the cost of a program there.
#[must_use]
pub fn is_library(file: &str) -> bool {
    HEADERS.iter().any(|folder| file.starts_with(folder)) || file.contains("/include/c++/")
}

/// File and line to show of frames (file and line), innermost first: the innermost in the file of the function that
/// contains the instruction, or, if that is a library's, in a file of the program; the outermost where there is none.
#[must_use]
pub fn shown<'a>(frames: &[(&'a str, u32)]) -> Option<(&'a str, u32)> {
    let outermost = frames.last()?;
    let library = is_library(outermost.0);
    let good = |&&(file, line): &&(&str, u32)| {
        let here = if library {
            !is_library(file)
        } else {
            file == outermost.0
        };
        here && line != 0
    };
    Some(*frames.iter().find(good).unwrap_or(outermost))
}

#[cfg(test)]
mod tests {
    use super::shown;

    const THREAD: &str =
        "/usr/lib/gcc/x86_64-linux-gnu/12/../../../../include/c++/12/bits/std_thread.h";
    const VECTOR: &str = "/usr/include/c++/12/bits/stl_vector.h";

    #[test]
    fn the_innermost_line_of_the_functions_file_is_shown() {
        assert_eq!(shown(&[("/a.cpp", 7)]), Some(("/a.cpp", 7)));
        assert_eq!(shown(&[("/a.cpp", 7), ("/a.cpp", 20)]), Some(("/a.cpp", 7)));
        assert_eq!(
            shown(&[(VECTOR, 1043), ("/a.cpp", 9), ("/a.cpp", 20)]),
            Some(("/a.cpp", 9))
        );
        assert_eq!(
            shown(&[("/a.hpp", 3), ("/a.cpp", 20)]),
            Some(("/a.cpp", 20))
        );
        assert_eq!(shown(&[]), None);
    }

    #[test]
    fn the_programs_line_is_shown_of_what_a_library_took_in() {
        let lambda = [(VECTOR, 1043), ("/a.cpp", 9), ("/a.cpp", 20), (THREAD, 210)];
        assert_eq!(shown(&lambda), Some(("/a.cpp", 9)));
        assert_eq!(shown(&[(VECTOR, 1043), (THREAD, 210)]), Some((THREAD, 210)));
    }
}
