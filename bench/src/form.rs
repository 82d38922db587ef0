//! The three ways a program is built.

use std::path::PathBuf;

use contech_tests::outputs::Outputs;

/// How a program is built.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// By clang alone.
    Native,
    /// Every block and every address recorded as such.
    Naive,
    /// The default.
    Fast,
}

impl Form {
    /// In the order in which they run.
    pub const ALL: [Self; 3] = [Self::Native, Self::Naive, Self::Fast];

    /// The name of its directory.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Naive => "naive",
            Self::Fast => "fast",
        }
    }

    /// The compiler for C or C++.
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

    /// The value of `CONTECH_OPTIONS` for it.
    #[must_use]
    pub fn options(self) -> &'static str {
        match self {
            Self::Native => "",
            Self::Naive => "--contech-naive",
            Self::Fast => "--contech-fast",
        }
    }
}
