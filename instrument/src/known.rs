//! Library functions whose effects are known.

use crate::clib::table;

/// C library functions that access no memory and do no more than those of [`table::is_pure`]. They
/// are trusted only when the prototype is the library's too. Anything doubtful stays out.
const PURE: &[&str] =
    &["abs", "ffs", "ffsl", "ffsll", "isascii", "isdigit", "labs", "llabs", "toascii"];

/// The same of those that have a form for `float` and one for `long double`, with an `f` or `l` behind.
const PURE_MATH: &[&str] = &[
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "ceil",
    "copysign",
    "cos",
    "cosh",
    "erf",
    "exp",
    "exp10",
    "exp2",
    "expm1",
    "fabs",
    "fdim",
    "floor",
    "fmax",
    "fmin",
    "fmod",
    "hypot",
    "ldexp",
    "log",
    "log10",
    "log1p",
    "log2",
    "logb",
    "nearbyint",
    "pow",
    "remainder",
    "rint",
    "round",
    "roundeven",
    "scalbln",
    "scalbn",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
];

/// Functions with the same property whose names are reserved for the implementation, and which LLVM
/// does not list.
const PURE_RESERVED: &[&str] = &[
    "__contech_alike",
    "__contech_atomic_begin",
    "__contech_text",
    "__ctype_b_loc",
    "__ctype_tolower_loc",
    "__ctype_toupper_loc",
    "__errno_location",
    "__fpclassify",
    "__fpclassifyf",
    "__isinf",
    "__isnan",
    "__signbit",
];

/// Prefixes of the names that the runtime intercepts (`runtime/src/exports.rs`).
const INTERCEPTED_FAMILIES: &[&str] = &["pthread_", "sem_", "mtx_", "cnd_", "thrd_", "_Zn", "_Zd"];
/// Other names that the runtime intercepts.
const INTERCEPTED: &[&str] = &[
    "aligned_alloc",
    "call_once",
    "calloc",
    "free",
    "malloc",
    "memalign",
    "mmap",
    "mmap64",
    "mremap",
    "munmap",
    "posix_memalign",
    "realloc",
    "reallocarray",
    "valloc",
];

/// Whether the runtime may intercept the external function `name`.
pub(crate) fn is_intercepted(name: &str) -> bool {
    INTERCEPTED.contains(&name) || INTERCEPTED_FAMILIES.iter().any(|f| name.starts_with(f))
}

/// Whether a call of the library function `name` leaves its block open. The compiler may turn an
/// instruction into such a call, so if the program defines the function, it must not record.
pub(crate) fn is_pure(name: &str) -> bool {
    let of_double = name.strip_suffix(['f', 'l']).unwrap_or(name);
    table::is_pure(name)
        || PURE.contains(&name)
        || PURE_MATH.contains(&name)
        || PURE_MATH.contains(&of_double)
}

/// The same for names that only the implementation may define.
pub(crate) fn is_pure_reserved(name: &str) -> bool {
    PURE_RESERVED.contains(&name)
}
