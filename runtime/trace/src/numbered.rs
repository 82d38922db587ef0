//! Enums whose numbers are part of the format.

/// Declares such an enum, each number beside its variant, with the list of all and the way back from a number, which
/// knows no others. (Twenty lines, against a derive macro and what it depends on in every traced process's library.)
macro_rules! numbered {
    ($(#[$about:meta])* pub enum $name:ident {
        $($(#[$item:meta])* $variant:ident = $number:literal,)*
    }) => {
        $(#[$about])*
        #[repr(u8)]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$item])* $variant = $number,)* }

        impl $name {
            /// All, in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The one with this number, if there is one.
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
