//! Enums whose numbers are part of a file format.

/// Declares such an enum, with each number beside its variant, and its name in texts if it has one.
/// The macro also makes the list of all variants, and the conversion from a number, which accepts
/// no other numbers. (A derive macro would add its dependencies to the library in every traced
/// process.)
#[macro_export]
macro_rules! numbered {
    ($(#[$about:meta])* pub enum $name:ident {
        $($(#[$item:meta])* $variant:ident = $number:literal, $text:literal;)*
    }) => {
        $crate::numbered! { $(#[$about])* pub enum $name { $($(#[$item])* $variant = $number;)* } }

        impl $name {
            /// The name in texts.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)* }
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, f: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
    ($(#[$about:meta])* pub enum $name:ident {
        $($(#[$item:meta])* $variant:ident = $number:literal;)*
    }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum $name { $($(#[$item])* $variant = $number,)* }

        impl $name {
            /// All variants, in the order of their numbers.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The variant with this number, if any.
            #[inline]
            #[must_use]
            pub const fn from_u8(number: u8) -> Option<Self> {
                match number { $($number => Some(Self::$variant),)* _ => None }
            }
        }
    };
}
