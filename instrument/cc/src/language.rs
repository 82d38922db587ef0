//! The languages that have a driver.

/// Which driver this is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// `contech-cc`.
    C,
    /// `contech-c++`.
    Cxx,
    /// `contech-fc`.
    Fortran,
}

impl Language {
    #[must_use]
    pub fn driver(self) -> &'static str {
        match self {
            Language::C => "contech-cc",
            Language::Cxx => "contech-c++",
            Language::Fortran => "contech-fc",
        }
    }
}
