//! From one row for each event: the event itself, the struct of its bytes, and encoding and
//! decoding.

use contech_program::{AllocKind, SyncOp};

use super::{Arrival, EndReason, Recorded};

/// A value of an event's field, and the bytes that stand for it.
pub trait Field: Sized {
    /// The bytes, little endian.
    type Bytes;

    fn bytes(self) -> Self::Bytes;

    /// The value of these bytes; `None` if no writer produces them.
    fn of(bytes: Self::Bytes) -> Option<Self>;
}

/// Addresses, sizes, tickets and times: the low 48 bits.
impl Field for u64 {
    type Bytes = [u8; 6];

    fn bytes(self) -> [u8; 6] {
        let [bytes @ .., _, _] = self.to_le_bytes();
        bytes
    }
    fn of([a, b, c, d, e, f]: [u8; 6]) -> Option<Self> {
        Some(u64::from_le_bytes([a, b, c, d, e, f, 0, 0]))
    }
}

macro_rules! unsigned {
    ($($name:ident)*) => {$(
        impl Field for $name {
            type Bytes = [u8; size_of::<$name>()];

            fn bytes(self) -> Self::Bytes {
                self.to_le_bytes()
            }
            fn of(bytes: Self::Bytes) -> Option<Self> {
                Some($name::from_le_bytes(bytes))
            }
        }
    )*};
}

unsigned! { u16 u32 }

impl Field for bool {
    type Bytes = [u8; 1];

    fn bytes(self) -> [u8; 1] {
        [u8::from(self)]
    }
    fn of([byte]: [u8; 1]) -> Option<Self> {
        Some(byte != 0)
    }
}

/// The second byte is zero.
impl Field for SyncOp {
    type Bytes = [u8; 2];

    fn bytes(self) -> [u8; 2] {
        [self as u8, 0]
    }
    fn of([number, _]: [u8; 2]) -> Option<Self> {
        SyncOp::from_u8(number).filter(|op| *op != SyncOp::None)
    }
}

macro_rules! numbers {
    ($($name:ident)*) => {$(
        impl Field for $name {
            type Bytes = [u8; 1];

            fn bytes(self) -> [u8; 1] {
                [self as u8]
            }
            fn of([number]: [u8; 1]) -> Option<Self> {
                Self::from_u8(number)
            }
        }
    )*};
}

numbers! { AllocKind EndReason Arrival Recorded }

/// Declares the events: name, id, bytes with the id, and the fields in the order of their bytes.
macro_rules! events {
    ($(#[$about:meta])* pub enum $event:ident {
        $($(#[$doc:meta])* $name:ident = $id:literal, $size:literal bytes {
            $($(#[$field_doc:meta])* $field:ident: $type:ty,)*
        })*
    }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $event { $($(#[$doc])* $name { $($(#[$field_doc])* $field: $type,)* },)* }

        /// The bytes of each event, as they lie in a buffer and in the file. None of them is
        /// aligned.
        pub mod raw {
            use super::*;

            $(
                #[doc = concat!("The bytes of [`", stringify!($event), "::", stringify!($name), "`].")]
                #[repr(C)]
                #[derive(Debug, Clone, Copy)]
                pub struct $name {
                    $(pub $field: <$type as Field>::Bytes,)*
                    pub id: [u8; ID_BYTES],
                }

                const _: () = assert!(size_of::<$name>() == $size && align_of::<$name>() == 1);

                impl $name {
                    /// The last four bytes of the event.
                    pub const ID: u32 = $id;
                }
            )*
        }

        /// Bytes of the longest event.
        pub const MAX_EVENT: usize = {
            let mut most = 0;
            $(if $size > most {
                most = $size;
            })*
            most
        };

        /// Bytes of the fields of the event with this id, without the id itself; `None` if no event
        /// has it.
        #[must_use]
        pub fn field_bytes(id: u32) -> Option<usize> {
            match id {
                $($id => Some($size - ID_BYTES),)*
                _ => None,
            }
        }

        impl $event {
            /// Encodes the event at the start of `buf`. Returns its length in bytes.
            pub fn encode(&self, buf: &mut [u8; MAX_EVENT]) -> usize {
                let mut len = 0;
                let mut put = |bytes: &[u8]| {
                    buf[len..len + bytes.len()].copy_from_slice(bytes);
                    len += bytes.len();
                };
                match *self {
                    $($event::$name { $($field),* } => {
                        $(put(&$field.bytes());)*
                        put(&u32::to_le_bytes($id));
                    })*
                }
                len
            }

            /// Decodes the fields of the event `id`; `fields` must have exactly
            /// [`field_bytes`]`(id)` bytes.
            ///
            /// # Errors
            /// [`Error::Invalid`] for an unknown id, a wrong length, or a number that no writer
            /// produces.
            pub fn decode(id: u32, fields: &[u8]) -> Result<$event> {
                let invalid = |detail: &str| Error::Invalid {
                    what: "event",
                    offset: 0,
                    detail: format!("id {id}: {detail}"),
                };
                let wrong = || invalid("unknown event or wrong length");
                if field_bytes(id) != Some(fields.len()) {
                    return Err(wrong());
                }
                match id {
                    $($id => {
                        let rest = fields;
                        $(
                            let (bytes, rest) = rest.split_first_chunk().ok_or_else(wrong)?;
                            let $field = <$type>::of(*bytes)
                                .ok_or_else(|| invalid(concat!("unknown ", stringify!($field))))?;
                        )*
                        debug_assert!(rest.is_empty());
                        Ok($event::$name { $($field),* })
                    })*
                    _ => Err(wrong()),
                }
            }
        }
    };
}

pub(super) use events;
