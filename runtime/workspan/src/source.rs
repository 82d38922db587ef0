//! The source line of an instruction that the compiler inlined from elsewhere. The pass, the on-line profiler and the
//! measurements follow this one rule, so that they name the same lines.

/// The folders of libraries' headers.
const HEADERS: [&str; 3] = ["/usr/include/", "/usr/lib/", "/usr/local/include/"];

/// Whether a file is a header of a library, where nobody looks for the cost of a program.
#[must_use]
pub fn is_library(file: &str) -> bool {
    HEADERS.iter().any(|folder| file.starts_with(folder)) || file.contains("/include/c++/")
}

/// The file and line to show for frames (file and line), which come innermost first. It is the innermost frame in the
/// file of the function that contains the instruction or, if that file is a library's, in a file of the program. If
/// there is no such frame, it is the outermost one.
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
