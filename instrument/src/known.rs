//! Library functions whose effects are known.

/// C library functions that call nothing back, never unwind, never allocate and write no memory but
/// what `clib` says, so that a call of one does not end a block. They are trusted only when the
/// prototype is the library's too. The list is sorted for the search, and anything doubtful stays
/// out.
const PURE: &[&str] = &[
    "abs",
    "acos",
    "acosf",
    "acosh",
    "acoshf",
    "acoshl",
    "acosl",
    "asin",
    "asinf",
    "asinh",
    "asinhf",
    "asinhl",
    "asinl",
    "atan",
    "atan2",
    "atan2f",
    "atan2l",
    "atanf",
    "atanh",
    "atanhf",
    "atanhl",
    "atanl",
    "bcmp",
    "bcopy",
    "bzero",
    "cbrt",
    "cbrtf",
    "cbrtl",
    "ceil",
    "ceilf",
    "ceill",
    "copysign",
    "copysignf",
    "copysignl",
    "cos",
    "cosf",
    "cosh",
    "coshf",
    "coshl",
    "cosl",
    "erf",
    "erff",
    "erfl",
    "exp",
    "exp10",
    "exp10f",
    "exp10l",
    "exp2",
    "exp2f",
    "exp2l",
    "expf",
    "expl",
    "expm1",
    "expm1f",
    "expm1l",
    "fabs",
    "fabsf",
    "fabsl",
    "fdim",
    "fdimf",
    "fdiml",
    "ffs",
    "ffsl",
    "ffsll",
    "floor",
    "floorf",
    "floorl",
    "fmax",
    "fmaxf",
    "fmaxl",
    "fmin",
    "fminf",
    "fminl",
    "fmod",
    "fmodf",
    "fmodl",
    "hypot",
    "hypotf",
    "hypotl",
    "isascii",
    "isdigit",
    "labs",
    "ldexp",
    "ldexpf",
    "ldexpl",
    "llabs",
    "log",
    "log10",
    "log10f",
    "log10l",
    "log1p",
    "log1pf",
    "log1pl",
    "log2",
    "log2f",
    "log2l",
    "logb",
    "logbf",
    "logbl",
    "logf",
    "logl",
    "memchr",
    "memcmp",
    "memcpy",
    "memmove",
    "mempcpy",
    "memrchr",
    "memset",
    "nearbyint",
    "nearbyintf",
    "nearbyintl",
    "pow",
    "powf",
    "powl",
    "remainder",
    "remainderf",
    "remainderl",
    "rint",
    "rintf",
    "rintl",
    "round",
    "roundeven",
    "roundevenf",
    "roundevenl",
    "roundf",
    "roundl",
    "scalbln",
    "scalblnf",
    "scalblnl",
    "scalbn",
    "scalbnf",
    "scalbnl",
    "sin",
    "sinf",
    "sinh",
    "sinhf",
    "sinhl",
    "sinl",
    "sqrt",
    "sqrtf",
    "sqrtl",
    "strcasecmp",
    "strchr",
    "strcmp",
    "strcspn",
    "strlen",
    "strncasecmp",
    "strncmp",
    "strnlen",
    "strpbrk",
    "strrchr",
    "strspn",
    "strstr",
    "tan",
    "tanf",
    "tanh",
    "tanhf",
    "tanhl",
    "tanl",
    "toascii",
    "trunc",
    "truncf",
    "truncl",
];

const _: () = assert!(is_sorted(PURE), "PURE is searched by halves");

/// `[str]::is_sorted` at compile time: the plugin cannot be linked into a test without LLVM.
const fn is_sorted(names: &[&str]) -> bool {
    let mut i = 1;
    while i < names.len() {
        let (a, b) = (names[i - 1].as_bytes(), names[i].as_bytes());
        let mut k = 0;
        while k < a.len() && k < b.len() && a[k] == b[k] {
            k += 1;
        }
        if k == b.len() || (k < a.len() && a[k] > b[k]) {
            return false;
        }
        i += 1;
    }
    true
}

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

/// Whether a call of the library function `name` leaves its block open.
pub(crate) fn is_pure(name: &str) -> bool {
    PURE.binary_search(&name).is_ok()
}

/// The same for names that only the implementation may define.
pub(crate) fn is_pure_reserved(name: &str) -> bool {
    PURE_RESERVED.contains(&name)
}

/// Whether the compiler may turn an instruction that does not end a block into a call of `name`. If
/// the program defines such a function, that function must not record.
pub(crate) fn is_compiler_callable(name: &str) -> bool {
    is_pure(name)
}
