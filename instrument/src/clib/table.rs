//! The functions of the C library (glibc on x86-64), and of flang's, of which it is known what they
//! read and write.

use super::Access::{self, Copies, Place, Prints, Reads, Writes};
use super::Number::{
    self, Add, Alike, Arg, Array, Behind, Const, IfZero, In, Min, Mul, NotNegative, Result, Sub,
    Text,
};

const A0: Number = Arg(0);
const A1: Number = Arg(1);
const A2: Number = Arg(2);
const A3: Number = Arg(3);
const ALL: Number = Const(u64::MAX);
const NONE: Number = Const(0);
const ONE: Number = Const(1);
const TEXT0: Number = Text(&A0, &ALL);
const TEXT1: Number = Text(&A1, &ALL);
/// Bytes of text 0 up to what the call found in it, which is measured only if it found nothing.
const SEARCHED: Number = IfZero(&Result, &Text(&A0, &IfZero(&Result, &ALL, &NONE)), &UP_TO_RESULT);
const UP_TO_RESULT: Number = Add(&Sub(&Result, &A0), &ONE);
/// A number in text 0 is read up to the character that ends it. Argument 1 is null or says where the
/// call puts the address of that character.
const PARSES: &[Access] =
    &[Place(1), Reads(A0, Add(&Sub(&Behind(1), &A0), &ONE)), Writes(A1, IfZero(&A1, &NONE, &LONG))];
/// Bytes that the call says it has given.
const GIVEN: Number = NotNegative(&Result);
/// Bytes of a text of which the call says how long it is.
const COUNTED: Number = NotNegative(&Add(&Result, &ONE));
/// Bytes of the text that the call returns, if it returns one.
const RETURNED: Number = Text(&Result, &IfZero(&Result, &NONE, &ALL));
/// `struct timespec` and `struct timeval`.
const TIME: Number = Const(16);
/// `struct tm`.
const CALENDAR: Number = Const(56);
/// `struct stat` and `struct rusage`, if the call succeeds.
const STATUS: Number = IfZero(&Result, &Const(144), &NONE);
const LONG: Number = Const(8);
/// `wchar_t`.
const WIDE: Number = Const(4);

/// Names, the type of all of them (see [`super::has_form`]), and what they do.
type Row = (&'static [&'static str], &'static str, &'static [Access]);

/// What the function of this name does, and its type.
pub(super) fn find(name: &str) -> impl Iterator<Item = (&'static str, &'static [Access])> {
    PURE.iter()
        .chain(ROWS)
        .filter(move |(names, ..)| names.contains(&name))
        .map(|(_, form, accesses)| (*form, *accesses))
}

/// Whether the function of this name is [`PURE`].
pub(crate) fn is_pure(name: &str) -> bool {
    PURE.iter().any(|(names, ..)| names.contains(&name))
}

/// Those that call nothing back, never unwind, never allocate and write no memory but what is said
/// here, so that a call of one does not end a block.
#[rustfmt::skip] // A row is a line.
const PURE: &[Row] = &[
    (&["memcpy", "memmove", "mempcpy"], "pppl", &[Copies(A0, A1, A2)]),
    (&["bcopy"], "vppl", &[Copies(A1, A0, A2)]),
    (&["memset"], "ppil", &[Writes(A0, A2)]),
    (&["bzero"], "vpl", &[Writes(A0, A1)]),
    (&["bcmp", "memcmp"], "ippl", &[Reads(A0, A2), Reads(A1, A2)]),
    (&["memchr"], "ppil", &[Reads(A0, IfZero(&Result, &A2, &UP_TO_RESULT))]),
    (&["memrchr"], "ppil", &[Reads(IfZero(&Result, &A0, &Result), Sub(&Add(&A0, &A2), &IfZero(&Result, &A0, &Result)))]),
    (&["strlen"], "lp", &[Reads(A0, Add(&Result, &ONE))]),
    (&["strnlen"], "lpl", &[Reads(A0, Min(&Add(&Result, &ONE), &A1))]),
    (&["strcmp"], "ipp", &[Reads(A0, Alike(&A0, &A1, &ALL, false)), Reads(A1, Alike(&A0, &A1, &ALL, false))]),
    (&["strncmp"], "ippl", &[Reads(A0, Alike(&A0, &A1, &A2, false)), Reads(A1, Alike(&A0, &A1, &A2, false))]),
    (&["strcasecmp"], "ipp", &[Reads(A0, Alike(&A0, &A1, &ALL, true)), Reads(A1, Alike(&A0, &A1, &ALL, true))]),
    (&["strncasecmp"], "ippl", &[Reads(A0, Alike(&A0, &A1, &A2, true)), Reads(A1, Alike(&A0, &A1, &A2, true))]),
    (&["strchr"], "ppi", &[Reads(A0, SEARCHED)]),
    (&["strrchr"], "ppi", &[Reads(A0, TEXT0)]),
    (&["strpbrk"], "ppp", &[Reads(A0, SEARCHED), Reads(A1, TEXT1)]),
    (&["strstr"], "ppp", &[Reads(A1, TEXT1), Reads(A0, SEARCHED)]),
    (&["strspn", "strcspn"], "lpp", &[Reads(A0, Add(&Result, &ONE)), Reads(A1, TEXT1)]),
];

#[rustfmt::skip]
const ROWS: &[Row] = &[
    // Bytes.
    (&["__memcpy_chk", "__memmove_chk", "__mempcpy_chk"], "pppll", &[Copies(A0, A1, A2)]),
    (&["__memset_chk"], "ppill", &[Writes(A0, A2)]),
    (&["memmem"], "pplpl", &[Reads(A2, A3), Reads(A0, IfZero(&Result, &A1, &Add(&Sub(&Result, &A0), &A3)))]),
    // Wide characters, of which lengths are told.
    (&["wmemcpy", "wmemmove", "wmempcpy"], "pppl", &[Copies(A0, A1, Mul(&A2, &WIDE))]),
    (&["wmemset"], "ppil", &[Writes(A0, Mul(&A2, &WIDE))]),
    (&["wmemcmp"], "ippl", &[Reads(A0, Mul(&A2, &WIDE)), Reads(A1, Mul(&A2, &WIDE))]),
    (&["wcslen"], "lp", &[Reads(A0, Mul(&Add(&Result, &ONE), &WIDE))]),
    // Texts.
    (&["strchrnul"], "ppi", &[Reads(A0, UP_TO_RESULT)]),
    // Where a piece ends in the text, the call writes, if it does not end the text: that is not
    // known.
    (&["strtok"], "ppp", &[Reads(A1, TEXT1), Reads(Result, RETURNED)]),
    (&["strtok_r", "__strtok_r"], "pppp", &[Reads(A1, TEXT1), Writes(A2, LONG), Reads(Result, RETURNED)]),
    (&["strsep"], "ppp", &[Reads(A1, TEXT1), Writes(A0, LONG), Reads(Result, RETURNED)]),
    (&["strcpy", "stpcpy"], "ppp", &[Copies(A0, A1, TEXT1)]),
    (&["__strcpy_chk", "__stpcpy_chk"], "pppl", &[Copies(A0, A1, TEXT1)]),
    (&["strncpy", "stpncpy"], "pppl", &[Reads(A1, Text(&A1, &A2)), Writes(A0, A2)]),
    (&["__strncpy_chk", "__stpncpy_chk"], "pppll", &[Reads(A1, Text(&A1, &A2)), Writes(A0, A2)]),
    (&["strcat"], "ppp", &[Reads(A0, TEXT0), Copies(Sub(&Add(&A0, &TEXT0), &ONE), A1, TEXT1)]),
    (&["__strcat_chk"], "pppl", &[Reads(A0, TEXT0), Copies(Sub(&Add(&A0, &TEXT0), &ONE), A1, TEXT1)]),
    (&["strncat"], "pppl", &[Reads(A0, TEXT0), Copies(Sub(&Add(&A0, &TEXT0), &ONE), A1, Text(&A1, &A2))]),
    (&["strdup", "__strdup"], "pp", &[Reads(A0, TEXT0), Writes(Result, RETURNED)]),
    (&["strndup", "__strndup"], "ppl", &[Reads(A0, Text(&A0, &A1)), Writes(Result, RETURNED)]),
    (&["strtol", "strtoul", "strtoll", "strtoull"], "lppi", PARSES),
    (&["sscanf", "__isoc99_sscanf", "__isoc23_sscanf"], "ipp.", &[Reads(A0, TEXT0)]),
    (&["strtod"], "dpp", PARSES),
    (&["strtof"], "fpp", PARSES),
    // Input and output.
    (&["read"], "lipl", &[Writes(A1, Min(&GIVEN, &A2))]),
    (&["recv"], "lipli", &[Writes(A1, Min(&GIVEN, &A2))]),
    (&["pread", "pread64", "__read_chk"], "lipll", &[Writes(A1, Min(&GIVEN, &A2))]),
    (&["__recv_chk"], "liplli", &[Writes(A1, Min(&GIVEN, &A2))]),
    (&["recvfrom"], "liplipp", &[Writes(A1, Min(&GIVEN, &A2))]),
    (&["write"], "lipl", &[Reads(A1, A2)]),
    (&["send"], "lipli", &[Reads(A1, A2)]),
    (&["pwrite", "pwrite64"], "lipll", &[Reads(A1, A2)]),
    (&["sendto"], "liplipi", &[Reads(A1, A2)]),
    (&["fread", "fread_unlocked"], "lpllp", &[Writes(A0, Mul(&Result, &A1))]),
    (&["__fread_chk"], "lplllp", &[Writes(A0, Mul(&Result, &A2))]),
    (&["fwrite", "fwrite_unlocked"], "lpllp", &[Reads(A0, Mul(&A1, &A2))]),
    (&["fgets", "fgets_unlocked"], "ppip", &[Writes(A0, RETURNED)]),
    (&["__fgets_chk"], "pplip", &[Writes(A0, RETURNED)]),
    (&["getline"], "lppp", &[Reads(A0, LONG), Reads(A1, LONG), Writes(A0, LONG), Writes(A1, LONG), Writes(Behind(0), COUNTED)]),
    (&["getdelim"], "lppip", &[Reads(A0, LONG), Reads(A1, LONG), Writes(A0, LONG), Writes(A1, LONG), Writes(Behind(0), COUNTED)]),
    (&["fputs", "fputs_unlocked"], "ipp", &[Reads(A0, TEXT0)]),
    (&["puts"], "ip", &[Reads(A0, TEXT0)]),
    (&["printf"], "ip.", &[Prints(0)]),
    (&["__printf_chk", "dprintf"], "iip.", &[Prints(1)]),
    (&["fprintf"], "ipp.", &[Prints(1)]),
    (&["__fprintf_chk"], "ipip.", &[Prints(2)]),
    (&["sprintf"], "ipp.", &[Prints(1), Writes(A0, COUNTED)]),
    (&["__sprintf_chk"], "ipilp.", &[Prints(3), Writes(A0, COUNTED)]),
    (&["vsprintf"], "ippp", &[Writes(A0, COUNTED)]),
    (&["snprintf"], "iplp.", &[Prints(2), Writes(A0, Min(&COUNTED, &A1))]),
    (&["__snprintf_chk"], "iplilp.", &[Prints(4), Writes(A0, Min(&COUNTED, &A1))]),
    (&["vsnprintf"], "iplpp", &[Writes(A0, Min(&COUNTED, &A1))]),
    (&["asprintf"], "ipp.", &[Prints(1), Writes(A0, LONG), Writes(Behind(0), COUNTED)]),
    (&["poll"], "ipli", &[Reads(A0, Mul(&A1, &LONG))]),
    (&["epoll_wait"], "iipii", &[Writes(A1, Mul(&GIVEN, &Const(12)))]),
    (&["pipe"], "ip", &[Writes(A0, IfZero(&Result, &LONG, &NONE))]),
    (&["pipe2"], "ipi", &[Writes(A0, IfZero(&Result, &LONG, &NONE))]),
    (&["socketpair"], "iiiip", &[Writes(A3, IfZero(&Result, &LONG, &NONE))]),
    // Files.
    (&["open", "open64"], "ipi.", &[Reads(A0, TEXT0)]),
    (&["fopen", "fopen64"], "ppp", &[Reads(A0, TEXT0), Reads(A1, TEXT1)]),
    (&["stat", "lstat", "stat64", "lstat64"], "ipp", &[Reads(A0, TEXT0), Writes(A1, STATUS)]),
    (&["fstat", "fstat64"], "iip", &[Writes(A1, STATUS)]),
    (&["fstatat", "fstatat64"], "iippi", &[Reads(A1, TEXT1), Writes(A2, STATUS)]),
    (&["readlink"], "lppl", &[Reads(A0, TEXT0), Writes(A1, GIVEN)]),
    (&["getcwd"], "ppl", &[Writes(Result, RETURNED)]),
    // Times and the like.
    (&["gettimeofday"], "ipp", &[Writes(A0, IfZero(&A0, &NONE, &IfZero(&Result, &TIME, &NONE)))]),
    (&["clock_gettime"], "iip", &[Writes(A1, IfZero(&Result, &TIME, &NONE))]),
    (&["clock_getres"], "iip", &[Writes(A1, IfZero(&A1, &NONE, &IfZero(&Result, &TIME, &NONE)))]),
    (&["time"], "lp", &[Writes(A0, IfZero(&A0, &NONE, &LONG))]),
    (&["times"], "lp", &[Writes(A0, IfZero(&A0, &NONE, &Const(32)))]),
    (&["getrusage"], "iip", &[Writes(A1, STATUS)]),
    (&["uname"], "ip", &[Writes(A0, IfZero(&Result, &Const(390), &NONE))]),
    (&["nanosleep"], "ipp", &[Reads(A0, TIME)]),
    (&["clock_nanosleep"], "iiipp", &[Reads(A2, TIME)]),
    (&["localtime_r", "gmtime_r"], "ppp", &[Reads(A0, LONG), Writes(A1, IfZero(&Result, &NONE, &CALENDAR))]),
    (&["mktime", "timegm"], "lp", &[Reads(A0, CALENDAR), Writes(A0, CALENDAR)]),
    (&["strftime"], "lplpp", &[Reads(A3, CALENDAR), Writes(A0, IfZero(&Result, &NONE, &COUNTED))]),
    // The rest.
    (&["qsort"], "vpllp", &[Reads(A0, Mul(&A1, &A2)), Writes(A0, Mul(&A1, &A2))]),
    (&["qsort_r"], "vpllpp", &[Reads(A0, Mul(&A1, &A2)), Writes(A0, Mul(&A1, &A2))]),
    (&["getenv"], "pp", &[Reads(A0, TEXT0)]),
    (&["frexp"], "ddp", &[Writes(A1, Const(4))]),
    (&["modf"], "ddp", &[Writes(A1, LONG)]),
    (&["sincos"], "vdpp", &[Writes(A1, LONG), Writes(A2, LONG)]),
    // Assignments of arrays, which may allocate the left side.
    (&["_FortranAAssign", "_FortranAAssignTemporary", "_FortranAAssignExplicitLengthCharacter", "_FortranAAssignPolymorphic"], "vpppi", &[Reads(In(1), Array(&A1)), Writes(Behind(0), Array(&A0))]),
];
