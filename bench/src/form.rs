//! The forms in which a program is built.

use std::path::PathBuf;

use contech_tests::outputs::Outputs;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Clang alone compiles the program.
    Native,
    /// Every block and every address is recorded as such.
    Naive,
    /// The recording has the default form.
    Fast,
}

impl Form {
    /// The forms, in the order in which they run.
    pub const ALL: [Self; 3] = [Self::Native, Self::Naive, Self::Fast];

    /// The name of the form's directory.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Naive => "naive",
            Self::Fast => "fast",
        }
    }

    #[must_use]
    pub fn compiler(self, cxx: bool) -> PathBuf {
        let outputs = Outputs::get();
        match (self, cxx) {
            (Self::Native, false) => "clang-22".into(),
            (Self::Native, true) => "clang++-22".into(),
            (_, false) => outputs.cc(),
            (_, true) => outputs.cxx(),
        }
    }

    #[must_use]
    pub fn fortran(self) -> PathBuf {
        match self {
            Self::Native => "flang-22".into(),
            Self::Naive | Self::Fast => Outputs::get().fc(),
        }
    }

    /// The form's value of `CONTECH_OPTIONS`.
    #[must_use]
    pub fn options(self) -> &'static str {
        match self {
            Self::Native => "",
            Self::Naive => "--contech-naive",
            Self::Fast => "--contech-fast",
        }
    }
}
