//! What an object file holds: bitcode of LLVM, machine code with the bitcode that it was made from,
//! or neither.

use contech_trace::abi::MODULE_SECTION;
use object::{Object as _, ObjectSection as _, SectionKind};

/// Bitcode as such and bitcode with a header in front of it.
const MAGIC: [&[u8]; 2] = [b"BC\xC0\xDE", b"\xDE\xC0\x17\x0B"];
/// Where compilers embed the bitcode of an object of machine code.
const EMBEDDED: &str = ".llvmbc";

/// What there is to instrument in an object file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Content<'d> {
    /// Bitcode that the compiler left for the linker to optimise.
    Bitcode(&'d [u8]),
    /// The optimised bitcode of an object of machine code, as the toolchain's own objects have it.
    Embedded(&'d [u8]),
    /// Machine code that is not instrumented.
    Plain,
    /// Instrumented machine code.
    Recorded,
    /// Nothing that runs.
    Nothing,
}

impl<'d> Content<'d> {
    pub(crate) fn bitcode(self) -> Option<&'d [u8]> {
        match self {
            Content::Bitcode(bitcode) | Content::Embedded(bitcode) => Some(bitcode),
            Content::Plain | Content::Recorded | Content::Nothing => None,
        }
    }
}

/// What an object file holds. A file that cannot be read as one holds nothing.
pub(crate) fn content(bytes: &[u8]) -> Content<'_> {
    if MAGIC.iter().any(|magic| bytes.starts_with(magic)) {
        return Content::Bitcode(bytes);
    }
    let Ok(file) = object::File::parse(bytes) else {
        return Content::Nothing;
    };
    let section = |name| file.section_by_name(name);
    if section(MODULE_SECTION).is_some() {
        return Content::Recorded;
    }
    if let Some(Ok(bitcode)) = section(EMBEDDED).map(|s| s.data())
        && MAGIC.iter().any(|magic| bitcode.starts_with(magic))
    {
        return Content::Embedded(bitcode);
    }
    let runs = |s: object::Section<'_, '_>| s.kind() == SectionKind::Text && s.size() > 0;
    if file.sections().any(runs) { Content::Plain } else { Content::Nothing }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bitcode_is_known_by_its_first_bytes_and_other_bytes_hold_nothing() {
        let bitcode = b"BC\xC0\xDE35";
        assert_eq!(content(bitcode), Content::Bitcode(bitcode));
        for bytes in [&b""[..], b"BC", b"\x7fELF", b"rust metadata"] {
            assert_eq!(content(bytes), Content::Nothing);
        }
    }

    #[test]
    fn machine_code_of_this_test_is_plain() -> std::io::Result<()> {
        let own = std::fs::read(std::env::current_exe()?)?;
        assert_eq!(content(&own), Content::Plain);
        Ok(())
    }
}
