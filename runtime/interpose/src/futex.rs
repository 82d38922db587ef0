//! Operations of `futex(2)`.

use std::ffi::c_int;

/// What a futex call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// Waits until another thread wakes it.
    Wait,
    /// Wakes waiting threads, and returns their number.
    Wake,
    /// Takes a lock whose owner the kernel knows.
    Lock,
    /// Releases such a lock to one thread that waits for it.
    Unlock,
    /// Something else: no thread waits, and none is woken.
    Other,
}

/// What a futex call with this operation does.
#[must_use]
pub fn does(operation: usize) -> Does {
    /// `FUTEX_LOCK_PI2`, which Linux 5.14 added.
    const LOCK_PI2: c_int = 13;
    let [a, b, c, d, ..] = operation.to_le_bytes(); // the kernel takes 32 bits of the argument
    let flags = libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME;
    match c_int::from_le_bytes([a, b, c, d]) & !flags {
        libc::FUTEX_WAIT | libc::FUTEX_WAIT_BITSET => Does::Wait,
        libc::FUTEX_WAKE | libc::FUTEX_WAKE_BITSET => Does::Wake,
        libc::FUTEX_LOCK_PI | LOCK_PI2 => Does::Lock,
        libc::FUTEX_UNLOCK_PI => Does::Unlock,
        _ => Does::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operation_of_a_futex_is_known_behind_its_flags() {
        for flags in [0, 128, 256, 128 | 256, 1 << 32] {
            assert_eq!((does(flags), does(9 | flags)), (Does::Wait, Does::Wait));
            assert_eq!((does(1 | flags), does(10 | flags)), (Does::Wake, Does::Wake));
            assert_eq!((does(6 | flags), does(13 | flags)), (Does::Lock, Does::Lock));
            assert_eq!((does(7 | flags), does(3 | flags)), (Does::Unlock, Does::Other));
        }
    }
}
