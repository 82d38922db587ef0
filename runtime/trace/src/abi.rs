//! The contract between instrumented code and the runtime: thread-local layout, runtime functions,
//! module descriptors. Both sides take it from here. Whoever changes it must also change
//! [`ABI_VERSION`].

/// Version of this contract. Every [`ModuleDescriptor`] contains it, and it is checked when a
/// module registers.
pub const ABI_VERSION: u32 = 8;

/// Thread-local block of the runtime (initial-exec): a struct of pointers with [`TLS_SIZE`] bytes.
pub const TLS_SYMBOL: &str = "__contech_tls";
/// Size of the thread-local block in bytes; the tail is reserved and zero.
pub const TLS_SIZE: usize = 256;
/// Offset of the cursor, which is where the next record goes. It is null until the thread first
/// flushes.
pub const TLS_CURSOR: usize = 0;
/// Offset of the limit: if `cursor >= limit`, the code must flush before it writes. The limit is
/// null at first, so `0 >= 0` flushes.
pub const TLS_LIMIT: usize = 8;
/// Offset of the runtime's own per-thread state pointer; instrumented code never touches it.
pub const TLS_STATE: usize = 16;
/// Offset of the second cursor, used by `--contech-check` for the naive stream.
pub const TLS_CHECK_CURSOR: usize = 24;
/// Offset of the limit of the second cursor.
pub const TLS_CHECK_LIMIT: usize = 32;

/// Bytes that may be written after a passed check and before the next one: the limit is this far
/// before the end of the buffer.
pub const SLACK: usize = 16 * 1024;
/// Most bytes that a path without a check may write. The rest of the slack takes the overlap of
/// 8-byte stores and the runtime's own events.
pub const MAX_UNCHECKED: usize = SLACK - 4096;
/// Largest record of one block, in bytes. The pass splits blocks with longer records.
pub const MAX_RECORD: usize = 4096;
pub use contech_program::op::{ADDRESS_BYTES, MASK_BYTES};
pub use contech_program::path::COUNT_BYTES;
/// Bytes of a block id.
pub const ID_BYTES: usize = 4;
/// Ids below this are runtime events, never blocks. They are few, because a module whose ids meet
/// them by the chance of its address cannot be recorded.
pub const RESERVED_IDS: u32 = 0x100;

/// Section that holds one [`ModuleDescriptor`] for each instrumented module. Its name is a C
/// identifier, so linkers define `__start_` and `__stop_` symbols.
pub const MODULE_SECTION: &str = "contech_modules";
/// First bytes of a descriptor.
pub const MODULE_MAGIC: u32 = 0x444d_5443; // "CTMD"

/// One instrumented module, as laid out in [`MODULE_SECTION`] (64 bytes, 8-byte aligned).
#[repr(C)]
#[derive(Debug, Clone, Copy, Default)]
pub struct ModuleDescriptor {
    /// Always [`MODULE_MAGIC`].
    pub magic: u32,
    /// [`ABI_VERSION`] of the pass that wrote the descriptor.
    pub abi: u32,
    /// Address of the module's id array; the low 32 bits of `ids + k` are the id of block `k`.
    pub ids: u64,
    /// Number of ids.
    pub id_count: u64,
    /// Address of the encoded [`crate::table::ModuleTable`].
    pub table: u64,
    /// Bytes of the table.
    pub table_len: u64,
    /// Address of the array of addresses of globals that fast-form expressions name (null if none).
    pub globals: u64,
    /// Number of those globals.
    pub global_count: u64,
    /// [`MODULE_SYNC`] and [`MODULE_FORTRAN`]; all other bits are zero.
    pub flags: u64,
}

/// Descriptor flag: the module was written with `--contech-mode=sync` (no blocks).
pub const MODULE_SYNC: u64 = 1;
/// Descriptor flag: the module calls flang's run-time library, which is linked into the same
/// executable or library. What that library locks for itself does not belong to the program.
pub const MODULE_FORTRAN: u64 = 2;
const _: () = assert!(size_of::<ModuleDescriptor>() == 64);

/// Bits 0..3 of what an atomic operation was: its memory order, in C's numbering (0 relaxed, 1
/// consume, 2 acquire, 3 release, 4 both, 5 sequentially consistent). A failed compare-exchange has
/// the order of failure.
pub const ATOMIC_ORDER: u64 = 7;
/// Bits 3..5: the kind of the operation, which is one of the four below.
pub const ATOMIC_KIND: u64 = 3 << 3;
/// The operation read.
pub const ATOMIC_LOAD: u64 = 0;
/// The operation wrote.
pub const ATOMIC_STORE: u64 = 1 << 3;
/// The operation read and wrote.
pub const ATOMIC_RMW: u64 = 2 << 3;
/// The operation was a compare-exchange that found another value, so it only read.
pub const ATOMIC_FAIL: u64 = 3 << 3;
/// Bit 5: the operation was a read-modify-write that wrote the value it found (a lock that was
/// already taken).
pub const ATOMIC_SILENT: u64 = 1 << 5;
/// Bit 6: the value that the operation found is not stated (it is wider than 64 bits).
pub const ATOMIC_UNSTATED: u64 = 1 << 6;
/// Bit 7: the operation counts a thread of a scope (Rust's `thread::scope`), which begins or, if
/// the operation is a release, leaves the scope. Who later acquires a 0 from the variable has
/// waited for the scope's threads.
pub const ATOMIC_COUNTS: u64 = 1 << 7;
/// From bit 8 on, for [`ATOMIC_LOADED`]: the base-2 logarithm of the number of bytes that were
/// read, at most 3.
pub const ATOMIC_SIZE_SHIFT: u32 = 8;
/// Bit 10, for [`ATOMIC_END`]: the operation stands in a loop that does nothing but try it.
pub const ATOMIC_SPINS: u64 = 1 << 10;
/// Bit 11, for [`ATOMIC_END`]: the word was 0, and the operation made it something else.
pub const ATOMIC_TAKES: u64 = 1 << 11;
/// Bit 12, for [`ATOMIC_END`]: the operation made the word 0.
pub const ATOMIC_GIVES: u64 = 1 << 12;

/// Expands `$m!` with every runtime function that instrumented code calls:
///
/// ```text
/// constant: function of the runtime = symbol(kinds of the arguments) -> kind of the result, convention;
/// ```
///
/// Kinds are [`Ptr`] and [`Word`]. The pass declares these functions, the runtime exports them, and
/// its functions have these types.
#[macro_export]
macro_rules! for_each_runtime_fn {
    ($m:ident!) => {
        $m! {
            /// The buffer is full, or there is none yet: takes the cursor, and returns the cursor
            /// to go on with. Preserves every register except the result.
            FLUSH: flush = __contech_flush(Ptr) -> Ptr, PreserveAll;
            /// Does the same for the second cursor (`--contech-check`).
            CHECK_FLUSH: check_flush = __contech_check_flush(Ptr) -> Ptr, PreserveAll;
            /// Registers the descriptors between two section symbols. It is called once in each
            /// executable or shared library before its constructors; further calls are harmless.
            REGISTER: register = __contech_register(Ptr, Ptr), C;
            /// Says that the same range goes away (dlclose, exit).
            UNREGISTER: unregister = __contech_unregister(Ptr, Ptr), C;
            /// Says that an atomic operation on the address follows. Returns a token for
            /// [`ATOMIC_END`]; until then no other thread operates on the address. Does not touch
            /// the cursor.
            ATOMIC_BEGIN: atomic_begin = __contech_atomic_begin(Ptr) -> Word, C;
            /// Says that the operation is done: address, token, what it was (see the `ATOMIC_*`
            /// bits), and the value it found.
            ATOMIC_END: atomic_end = __contech_atomic_end(Ptr, Word, Word, Word), Caller;
            /// Says that a variable was read atomically: address, what it was (see the `ATOMIC_*`
            /// bits), and the value. Reads the variable again, with its place in the order, and
            /// returns the value to go on with.
            ATOMIC_LOADED: atomic_loaded = __contech_atomic_loaded(Ptr, Word, Word) -> Word, Caller;
            /// Says that a turn of a loop that only waits is over.
            TURN: turn = __contech_turn(), Caller;
            /// Bytes of the text at the address with its final 0, at most as many as the number
            /// says.
            TEXT: text = __contech_text(Ptr, Word) -> Word, C;
            /// Bytes of two texts up to the first in which they differ, or to the final 0, at most
            /// as many as the first number says. Upper and lower case are alike if the second is
            /// not 0.
            ALIKE: alike = __contech_alike(Ptr, Ptr, Word, Word) -> Word, C;
            /// Bytes of the array that a descriptor of Fortran tells of, or 0 if they do not lie
            /// one behind the other.
            ARRAY: array = __contech_array(Ptr) -> Word, C;
            /// A fence of this memory order.
            FENCE: fence = __contech_fence(Word), C;
        }
    };
}

/// An address.
pub type Ptr = *mut u8;
/// A number of 64 bits.
pub type Word = u64;

/// Kind of an argument or a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A [`Ptr`](type@Ptr).
    Ptr,
    /// A [`Word`](type@Word).
    Word,
}

/// How a runtime function is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Convention {
    /// The function is called like C functions.
    C,
    /// The function is called like C functions. The runtime's function takes the address of its
    /// caller as one more argument, which the stub adds.
    Caller,
    /// The call preserves every register except that of the result.
    PreserveAll,
}

/// Signature of a runtime function, for the side that declares it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RuntimeFn {
    /// Linker symbol.
    pub symbol: &'static str,
    /// Kind of each argument.
    pub args: &'static [Kind],
    /// Kind of the result, if there is one.
    pub ret: Option<Kind>,
    pub convention: Convention,
}

macro_rules! declare {
    ($($(#[$doc:meta])* $name:ident: $function:ident = $symbol:ident($($arg:ident),*) $(-> $ret:ident)?, $convention:ident;)*) => {
        $($(#[$doc])* pub const $name: RuntimeFn = RuntimeFn {
            symbol: stringify!($symbol),
            args: &[$(Kind::$arg),*],
            ret: [$(Some(Kind::$ret),)? None][0],
            convention: Convention::$convention,
        };)*
    };
}

for_each_runtime_fn!(declare!);
