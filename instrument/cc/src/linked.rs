//! Whether what a link is given was compiled with contech-cc. What was not runs unrecorded, in
//! silence.

use std::fs::File;
use std::path::{Path, PathBuf};

use contech_trace::abi::MODULE_SECTION;
use object::read::archive::ArchiveFile;
use object::read::elf::ElfFile64;
use object::{Endianness, Object, ObjectSection, ReadCache, ReadRef, SectionKind};

/// Folders of the system, whose files nobody expects to see recorded.
const SYSTEM: [&str; 3] = ["/usr", "/lib", "/lib64"];

/// What there is to say of these files: how many have code and no table of contech's, and which
/// comes first.
pub(crate) fn warning(files: &[PathBuf]) -> Option<String> {
    let of_system = |file: &Path| SYSTEM.iter().any(|folder| file.starts_with(folder));
    let mut left =
        files.iter().filter(|file| !of_system(file) && is_unrecorded(file) == Some(true));
    let first = left.next()?.display();
    Some(match left.count() {
        0 => format!("{first} was not compiled with contech-cc: its code will not be recorded"),
        more => format!(
            "{} files were not compiled with contech-cc: their code will not be recorded (the first is {first})",
            more + 1
        ),
    })
}

/// Whether an object, or each object of an archive that has code, is without a table. `None` if no
/// code is found: the file is no such file, or its objects are bitcode, which the linker compiles.
fn is_unrecorded(file: &Path) -> Option<bool> {
    // The linker reports what cannot be read.
    let data = ReadCache::new(File::open(file).ok()?);
    let Ok(archive) = ArchiveFile::parse(&data) else {
        return is_without_table(&data);
    };
    let members = archive.members().filter_map(|member| {
        let (start, size) = member.ok()?.file_range();
        is_without_table(data.range(start, size))
    });
    members.reduce(|all, one| all && one)
}

fn is_without_table<'a>(data: impl ReadRef<'a>) -> Option<bool> {
    let object = ElfFile64::<Endianness, _>::parse(data).ok()?;
    let mut code = object.sections();
    code.any(|section| section.kind() == SectionKind::Text && section.size() > 0)
        .then(|| object.section_by_name(MODULE_SECTION).is_none())
}
