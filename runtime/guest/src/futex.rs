//! Operations of `futex(2)`.

use std::ffi::c_int;

/// Whether the operation of a futex call, whatever its flags, is one of these.
#[must_use]
pub fn is_futex(operation: usize, which: &[c_int]) -> bool {
    let [a, b, c, d, ..] = operation.to_le_bytes(); // the kernel takes 32 bits of the argument
    let flags = libc::FUTEX_PRIVATE_FLAG | libc::FUTEX_CLOCK_REALTIME;
    which.contains(&(c_int::from_le_bytes([a, b, c, d]) & !flags))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operation_of_a_futex_is_known_behind_its_flags() {
        let waits = [libc::FUTEX_WAIT, libc::FUTEX_WAIT_BITSET];
        for flags in [0, 128, 256, 128 | 256, 1 << 32] {
            assert!(is_futex(flags, &waits) && is_futex(9 | flags, &waits));
            assert!(!is_futex(1 | flags, &waits));
        }
    }
}
