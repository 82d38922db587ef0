//! What a filter of system calls (seccomp) answers: classic BPF over the words of `struct seccomp_data`.

use contech_guest::arch::AUDIT_ARCH;
use libc::sock_filter;

/// Words of the data: number, architecture, two of the calling instruction's address, twelve of the arguments.
const WORDS: usize = 16;

/// Whether the filter lets a thread make the system call. Its arguments, which a filter may look at, too, are taken to
/// be 0.
pub(crate) fn allows(filter: &[sock_filter], number: u32) -> bool {
    matches!(
        answer(filter, number),
        Some(libc::SECCOMP_RET_ALLOW | libc::SECCOMP_RET_LOG)
    )
}

/// `None` for what the kernel refuses to run. Every step leads forward, so there is an end.
fn answer(filter: &[sock_filter], number: u32) -> Option<u32> {
    let mut data = [0; WORDS];
    (data[0], data[1]) = (number, AUDIT_ARCH);
    let (mut a, mut x, mut memory) = (0u32, 0u32, [0u32; WORDS]);
    let mut at = 0;
    loop {
        let &sock_filter { code, jt, jf, k } = filter.get(at)?;
        at += 1;
        let place = usize::try_from(k).ok()?;
        let operand = if code & 0x08 == 0 { k } else { x };
        match code & 7 {
            class @ (0 | 1) => {
                let value = match code & 0xe0 {
                    0x00 => k,
                    0x20 => *data.get(place / 4)?,
                    0x60 => *memory.get(place)?,
                    0x80 => 4 * u32::try_from(WORDS).ok()?,
                    _ => return None,
                };
                *(if class == 0 { &mut a } else { &mut x }) = value;
            }
            2 => *memory.get_mut(place)? = a,
            3 => *memory.get_mut(place)? = x,
            4 => {
                a = match code & 0xf0 {
                    0x00 => a.wrapping_add(operand),
                    0x10 => a.wrapping_sub(operand),
                    0x20 => a.wrapping_mul(operand),
                    0x30 => a.checked_div(operand)?,
                    0x40 => a | operand,
                    0x50 => a & operand,
                    0x60 => a.checked_shl(operand)?,
                    0x70 => a.checked_shr(operand)?,
                    0x80 => a.wrapping_neg(),
                    0xa0 => a ^ operand,
                    _ => return None,
                }
            }
            5 => {
                let holds = match code & 0xf0 {
                    0x00 => {
                        at = at.checked_add(place)?;
                        continue;
                    }
                    0x10 => a == operand,
                    0x20 => a > operand,
                    0x30 => a >= operand,
                    0x40 => a & operand != 0,
                    _ => return None,
                };
                at += usize::from(if holds { jt } else { jf });
            }
            6 => return Some(if code & 0x18 == 0x10 { a } else { k }),
            _ if code & 0x80 == 0 => x = a,
            _ => a = x,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOAD: u16 = 0x20;
    const IF_EQUAL: u16 = 0x15;
    const IF_ABOVE: u16 = 0x25;
    const RETURN: u16 = 0x06;

    fn step(code: u16, jt: u8, jf: u8, k: u32) -> sock_filter {
        sock_filter { code, jt, jf, k }
    }

    #[test]
    fn a_filter_answers_by_number_and_architecture() {
        let filter = [
            step(LOAD, 0, 0, 4),
            step(IF_EQUAL, 1, 0, AUDIT_ARCH),
            step(RETURN, 0, 0, libc::SECCOMP_RET_KILL_PROCESS),
            step(LOAD, 0, 0, 0),
            step(IF_EQUAL, 2, 0, 7),
            step(IF_ABOVE, 1, 0, 300),
            step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
            step(RETURN, 0, 0, libc::SECCOMP_RET_ERRNO | 1),
        ];
        let allowed: Vec<u32> = [6, 7, 8, 300, 301]
            .into_iter()
            .filter(|&number| allows(&filter, number))
            .collect();
        assert_eq!(allowed, [6, 8, 300]);
    }

    #[test]
    fn a_filter_computes() {
        let filter = [
            step(LOAD, 0, 0, 0),   // a = number
            step(0x54, 0, 0, 0xf), // a &= 15
            step(0x07, 0, 0, 0),   // x = a
            step(0x02, 0, 0, 3),   // memory[3] = a
            step(0x64, 0, 0, 4),   // a <<= 4
            step(0x4c, 0, 0, 0),   // a |= x
            step(0x05, 0, 0, 1),   // over the next
            step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW),
            step(0x16, 0, 0, 0), // return a
        ];
        assert_eq!(answer(&filter, 0x7ff3), Some(0x33));
    }

    #[test]
    fn what_is_no_filter_has_no_answer() {
        for broken in [
            step(LOAD, 0, 0, 64),
            step(0x34, 0, 0, 0),
            step(IF_EQUAL, 9, 9, 0),
        ] {
            let filter = [broken, step(RETURN, 0, 0, libc::SECCOMP_RET_ALLOW)];
            assert_eq!(answer(&filter, 1), None);
        }
        assert_eq!(answer(&[], 1), None);
    }
}
