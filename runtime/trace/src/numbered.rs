//! Enums whose numbers are part of the format.

/// Declares such an enum, with each number beside its variant. The macro also makes the list of all variants, and the
/// conversion from a number, which accepts no other numbers. (It has twenty lines; a derive macro would add its
/// dependencies to the library in every traced process.)
macro_rules! numbered {
    ($(#[$about:meta])* pub enum $name:ident {
        $($(#[$item:meta])* $variant:ident = $number:literal,)*
    }) => {
        $(#[$about])*
        #[repr(u8)]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$item])* $variant = $number,)* }

        impl $name {
            /// All variants, in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The variant with this number, if there is one.
            #[must_use]
            pub const fn from_u8(number: u8) -> Option<Self> {
                match number {
                    $($number => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use numbered;
