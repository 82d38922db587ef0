//! The forms in which a program is built.

use contech_tests::toolchain::Toolchain;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// Clang alone compiles the program.
    Native,
    /// Every block and every address is recorded as such.
    Naive,
    /// The recording has the default form.
    Fast,
}

impl Form {
    /// The forms, in the order in which they run.
    pub(crate) const ALL: [Self; 3] = [Self::Native, Self::Naive, Self::Fast];

    /// The name of the form's directory.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Naive => "naive",
            Self::Fast => "fast",
        }
    }

    /// The form's compilers.
    pub(crate) fn tools(self) -> Toolchain {
        match self {
            Self::Native => Toolchain::native(),
            Self::Naive | Self::Fast => Toolchain::contech(),
        }
    }

    /// The form's value of `CONTECH_OPTIONS`.
    pub(crate) fn options(self) -> &'static str {
        match self {
            Self::Native => "",
            Self::Naive => "--contech-naive",
            Self::Fast => "--contech-fast",
        }
    }
}
