//! Makes instrumented machine code of the bitcode among the inputs of a link.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::hash::Hasher as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use contech_plain::say;
use object::read::archive::ArchiveFile;
use rayon::prelude::*;
use xxhash_rust::xxh3::Xxh3;

use super::bitcode::{Content, content};
use super::store;
use crate::{Error, Language, Options, classify, invocation, locate, response};

/// The file in the folder `OUTPUT.contech` that says what was instrumented.
pub(crate) const REPORT: &str = "report";
/// The crate with what LLVM calls for arithmetic and copies; it must not call anything itself.
const BUILTINS: &str = "libcompiler_builtins-";
/// The member of an rlib that only rustc reads.
const METADATA: &str = "lib.rmeta";
/// How rustc tells the linker to optimise bitcode.
const FOR_BITCODE: &[u8] = b"-plugin-opt=";
/// The level for bitcode that is optimised already: it is only compiled well.
const OPTIMISED: char = '2';

/// Replaces the inputs of a link that hold bitcode. Beside the output, a folder `OUTPUT.contech`
/// keeps the objects for the next link, and says in [`REPORT`] what was instrumented and what was
/// not.
pub(crate) fn prepare(options: Options, arguments: Vec<OsString>) -> Result<Vec<OsString>, Error> {
    let mut words = response::expand(&arguments);
    if !classify(Language::C, &words).links {
        return Ok(arguments);
    }
    let output = words.iter().position(|w| w == "-o").map(|at| at + 1);
    let output = output.and_then(|at| words.get(at)).map(PathBuf::from);
    let output = output.unwrap_or_else(|| "a.out".into());
    let level = words.iter().find_map(|w| level(w)).unwrap_or('0');
    let maker = Maker::new(options)?;
    let folder = output.with_added_extension("contech");
    let archives = output.with_file_name("contech-archives");
    let inputs: Vec<usize> = (0..words.len())
        .filter(|&at| words[at].as_bytes().first() != Some(&b'-'))
        .filter(|&at| Path::new(&words[at]) != output)
        .collect();
    let made =
        in_parallel(&inputs, |&at| maker.input(Path::new(&words[at]), level, &folder, &archives))?;
    let mut report = String::new();
    let (mut objects, mut crates) = (0, 0);
    for (&at, input) in inputs.iter().zip(&made) {
        let instrumented = usize::from(input.instrumented > 0);
        *(if input.archive { &mut crates } else { &mut objects }) += instrumented;
        if let Some(left) = input.left_text(Path::new(&words[at])) {
            report += &format!("not instrumented: {left}\n");
        }
        if let Some(path) = &input.replaced {
            words[at] = path.clone().into_os_string();
        }
    }
    for library in libraries(&words) {
        // What it has of objects that are not instrumented.
        let left = Input::of(&members(&library, &read(&library)?)?);
        if let Some(left) = left.left_text(&library) {
            report += &format!("not instrumented: {left}\n");
        }
    }
    let report =
        format!("instrumented: {objects} objects of the program, {crates} crates\n{report}");
    let file = folder.join(REPORT);
    store::prune(&folder, |path| words.iter().any(|w| *w == *path));
    fs::create_dir_all(&folder)
        .and_then(|()| fs::write(&file, report))
        .map_err(|cause| Error::file(&file, cause))?;
    Ok(words.into_iter().filter_map(without_bitcode).collect())
}

pub(crate) fn read(path: &Path) -> Result<Vec<u8>, Error> {
    fs::read(path).map_err(|cause| Error::file(path, cause))
}

/// Whether an archive can be instrumented.
pub(crate) fn has_bitcode(path: &Path, bytes: &[u8]) -> Result<bool, Error> {
    Ok(members(path, bytes)?.iter().any(|(_, _, content)| content.bitcode().is_some()))
}

/// A member of an archive: its name, its bytes, and what they hold.
pub(crate) type Member<'d> = (String, &'d [u8], Content<'d>);

/// The members of an archive that the linker reads.
pub(crate) fn members<'d>(path: &Path, bytes: &'d [u8]) -> Result<Vec<Member<'d>>, Error> {
    let damaged = |cause| Error::Archive { path: path.to_owned(), cause };
    let mut members = Vec::new();
    for member in ArchiveFile::parse(bytes).map_err(damaged)?.members() {
        let member = member.map_err(damaged)?;
        let name = String::from_utf8_lossy(member.name()).into_owned();
        if name != METADATA {
            let data = member.data(bytes).map_err(damaged)?;
            members.push((name, data, content(data)));
        }
    }
    Ok(members)
}

/// Does the same for each item, on all processors. The first error wins.
fn in_parallel<T: Sync, R: Send>(
    items: &[T],
    each: impl Fn(&T) -> Result<R, Error> + Sync,
) -> Result<Vec<R>, Error> {
    let results: Vec<_> = items.par_iter().with_max_len(1).map(&each).collect();
    results.into_iter().collect()
}

/// The static libraries that a link asks for by name.
fn libraries(words: &[OsString]) -> Vec<PathBuf> {
    let folders = response::values(words, "-L");
    let library = |name: &OsStr| {
        let mut file = OsString::from("lib");
        file.push(name);
        file.push(".a");
        let mut paths = folders.iter().map(|folder| Path::new(folder).join(&file));
        paths.find(|path| path.is_file())
    };
    response::values(words, "-l").into_iter().filter_map(library).collect()
}

/// The optimisation level that rustc asks of the linker.
fn level(word: &OsStr) -> Option<char> {
    let mut parts = word.to_str()?.split(',');
    let level = parts.find_map(|part| part.strip_prefix("-plugin-opt=O"))?;
    level.chars().next().filter(char::is_ascii_digit)
}

/// A word of the link without what it says about bitcode, of which there is none left.
fn without_bitcode(word: OsString) -> Option<OsString> {
    let bytes = word.as_bytes();
    let Some(parts) = bytes.strip_prefix(b"-Wl,") else {
        return Some(word);
    };
    let about = |part: &&[u8]| part.starts_with(FOR_BITCODE);
    if !parts.split(|&b| b == b',').any(|part| about(&part)) {
        return Some(word);
    }
    let mut rest = b"-Wl".to_vec();
    for part in parts.split(|&b| b == b',').filter(|part| !about(part)) {
        rest.push(b',');
        rest.extend(part);
    }
    (rest.len() > b"-Wl".len()).then(|| OsStr::from_bytes(&rest).to_owned())
}

/// What became of an input of the link.
#[derive(Debug, Default)]
struct Input {
    archive: bool,
    /// The path that takes its place.
    replaced: Option<PathBuf>,
    /// Number of its objects that are instrumented.
    instrumented: usize,
    /// Its objects of machine code that are not.
    left: Vec<String>,
}

impl Input {
    /// What there is in an archive.
    fn of(members: &[Member<'_>]) -> Self {
        let plain = members.iter().filter(|(_, _, content)| *content == Content::Plain);
        Input {
            archive: true,
            replaced: None,
            instrumented: members.iter().filter_map(|(_, _, content)| content.bitcode()).count(),
            left: plain.map(|(name, ..)| name.clone()).collect(),
        }
    }

    fn left_text(&self, path: &Path) -> Option<String> {
        /// Names that are said.
        const SAID: usize = 3;
        let first = self.left.iter().take(SAID).cloned().collect::<Vec<_>>();
        let more = match self.left.len() {
            0 => return None,
            n if n > SAID => ", ...",
            _ => "",
        };
        let name = path.file_name().unwrap_or_default().display().to_string();
        Some(if self.archive {
            let (n, crate_name, first) = (self.left.len(), crate_of(&name), first.join(", "));
            let objects = if n == 1 { "object" } else { "objects" };
            format!("{crate_name}: {n} {objects} of another compiler ({first}{more})")
        } else {
            name
        })
    }
}

fn stem(archive: &str) -> &str {
    archive.trim_end_matches(".rlib").trim_end_matches(".a")
}

/// The crate of an rlib: `libNAME-HASH.rlib`.
pub(crate) fn crate_of(file: &str) -> &str {
    let name = file.strip_prefix("lib").unwrap_or(file);
    let name = name.strip_suffix(".a").unwrap_or(name);
    name.rsplit_once('-').map_or(name, |(name, _)| name)
}

/// Instruments and compiles bitcode.
#[derive(Debug)]
pub(crate) struct Maker {
    options: Options,
    /// What tells the results of this compiler, pass and options from those of others.
    identity: u128,
}

impl Maker {
    pub(crate) fn new(options: Options) -> Result<Self, Error> {
        let command = compilation(options.clone(), Path::new("in"), OPTIMISED, Path::new("out"))?;
        let mut hash = Xxh3::new();
        for word in command.get_args() {
            hash.write(word.as_bytes());
        }
        hash.write(options.for_pass().as_bytes());
        for file in [locate::find(locate::PLUGIN)?, command.get_program().into()] {
            hash.write(&read(&file)?);
        }
        Ok(Self { options, identity: hash.digest128() })
    }

    /// Makes the archives of a toolchain, which every program links; `tell` hears how many of how
    /// many are made.
    pub(crate) fn make_shared(
        &self,
        archives: &[PathBuf],
        tell: impl Fn(usize) + Sync,
    ) -> Result<(), Error> {
        let done = AtomicUsize::new(0);
        in_parallel(archives, |path| {
            let made = self.input(path, OPTIMISED, Path::new(""), Path::new(""))?;
            tell(done.fetch_add(1, Ordering::Relaxed) + 1);
            Ok(made)
        })?;
        store::prune(&store::cache(store::SHARED), store::is_used);
        Ok(())
    }

    /// Those archives of a toolchain that have bitcode and are not made yet.
    pub(crate) fn missing(&self, archives: &[PathBuf]) -> Result<Vec<PathBuf>, Error> {
        let mut missing = Vec::new();
        for path in archives {
            let bytes = read(path)?;
            let place = self.place(path, OPTIMISED, &bytes, &store::cache(store::SHARED));
            if !place.is_file() && has_bitcode(path, &bytes)? {
                missing.push(path.clone());
            }
        }
        Ok(missing)
    }

    /// A name for the compiler, the pass, the options and this program, which make programs
    /// together.
    pub(crate) fn identity(&self) -> Result<String, Error> {
        let this = std::env::current_exe().and_then(fs::read);
        let this = this.map_err(|cause| Error::file(Path::new("cargo-contech"), cause))?;
        Ok(self.key(OPTIMISED, &this))
    }

    /// A name for what is made of these bytes.
    fn key(&self, level: char, bytes: &[u8]) -> String {
        let mut hash = Xxh3::new();
        hash.write(&self.identity.to_le_bytes());
        hash.write(&[u8::try_from(level).unwrap_or_default()]);
        hash.write(bytes);
        format!("{:032x}", hash.digest128())
    }

    /// Where the archive goes that is made of another.
    fn place(&self, path: &Path, level: char, bytes: &[u8], folder: &Path) -> PathBuf {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        folder.join(format!("{}-{}.a", stem(&name), self.key(level, bytes)))
    }

    fn input(
        &self,
        path: &Path,
        level: char,
        folder: &Path,
        archives: &Path,
    ) -> Result<Input, Error> {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        // What is no file, or cannot be read, is the linker's business.
        let Ok(bytes) = fs::read(path) else {
            return Ok(Input::default());
        };
        if name.starts_with(BUILTINS) {
            return Ok(Input::default());
        }
        if bytes.starts_with(b"!<arch>\n") {
            return self.archive(path, &name, &bytes, level, archives);
        }
        let mut input = Input::default();
        let content = content(&bytes);
        if let Some(bitcode) = content.bitcode() {
            let object = folder.join(self.key(level, &bytes)).with_extension("o");
            store::make(&object, |to| self.compile(path, bitcode, level, to))?;
            input.instrumented = 1;
            input.replaced = Some(object);
        } else if content == Content::Plain {
            input.left.push(name.into_owned());
        }
        Ok(input)
    }

    fn archive(
        &self,
        path: &Path,
        name: &str,
        bytes: &[u8],
        level: char,
        archives: &Path,
    ) -> Result<Input, Error> {
        let members = members(path, bytes)?;
        let mut input = Input::of(&members);
        let embedded = members.iter().any(|(_, _, c)| matches!(c, Content::Embedded(_)));
        if input.instrumented == 0 {
            return Ok(input);
        }
        let (level, folder) = if embedded {
            (OPTIMISED, store::cache(store::SHARED))
        } else {
            (level, archives.to_owned())
        };
        let made = self.place(path, level, bytes, &folder);
        let new = store::make(&made, |to| {
            let work = to.with_extension("members");
            fs::create_dir_all(&work).map_err(|cause| Error::file(&work, cause))?;
            let result = self.members(path, &members, level, &work, to);
            let _ = fs::remove_dir_all(&work);
            result
        })?;
        if new && !embedded {
            let stem = format!("{}-", stem(name));
            let same = |p: &Path| {
                let name = p.file_name().unwrap_or_default().to_string_lossy();
                name.starts_with(&stem) && name.ends_with(".a")
            };
            store::prune(&folder, |p| p == made || !same(p));
        }
        input.replaced = Some(made);
        Ok(input)
    }

    /// Writes the archive `to` of instrumented members; those without bitcode stay as they are.
    fn members(
        &self,
        path: &Path,
        members: &[Member<'_>],
        level: char,
        work: &Path,
        to: &Path,
    ) -> Result<(), Error> {
        let mut pack = Command::new(locate::archiver());
        pack.arg("rcs").arg(to);
        for ((name, data, content), number) in members.iter().zip(0..) {
            // Two members may have one name.
            let object = work.join(format!("{number}-{name}"));
            match content.bitcode() {
                Some(bitcode) => self.compile(&path.join(name), bitcode, level, &object)?,
                None => fs::write(&object, data).map_err(|cause| Error::file(&object, cause))?,
            }
            pack.arg(object);
        }
        done(pack, path)
    }

    /// Instruments and compiles one piece of bitcode, which is that of `of`.
    fn compile(&self, of: &Path, bitcode: &[u8], level: char, to: &Path) -> Result<(), Error> {
        let from = to.with_added_extension("bc");
        fs::write(&from, bitcode).map_err(|cause| Error::file(&from, cause))?;
        let command = compilation(self.options.clone(), &from, level, to);
        let result = command.and_then(|command| done(command, of));
        let _ = fs::remove_file(&from);
        result
    }
}

/// The command line that compiles bitcode as rustc does.
fn compilation(
    mut options: Options,
    from: &Path,
    level: char,
    to: &Path,
) -> Result<Command, Error> {
    let mut words: Vec<OsString> = [
        "-x",
        "ir",
        "--target=x86_64-unknown-linux-gnu",
        "-fPIC",
        "-ffunction-sections",
        "-fdata-sections",
        "-c",
    ]
    .map(OsString::from)
    .into();
    words.extend([format!("-O{level}").into(), from.into(), "-o".into(), to.into()]);
    if level == '0' {
        // At this level the fences of a crate are calls, so that files with fences cannot be told
        // from others.
        options.order_all();
    }
    let line = classify(Language::C, &words);
    let tools = locate::tools(Language::C, &line, options.online(), &words)?;
    invocation::command(Language::C, &options, &line, &tools, words)
}

/// Runs a step of making `path`.
fn done(mut command: Command, path: &Path) -> Result<(), Error> {
    let ran = command.stdin(Stdio::null()).output();
    let output =
        ran.map_err(|cause| Error::Exec { program: command.get_program().into(), cause })?;
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if output.status.success() {
        if !said.is_empty() {
            say!("{}", said.trim_end());
        }
        return Ok(());
    }
    Err(Error::NotInstrumented { path: path.to_owned(), said })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_link_says_of_bitcode_is_read_and_taken_out() {
        let word = OsString::from("-Wl,-plugin-opt=O3,-plugin-opt=mcpu=x86-64");
        assert_eq!(level(&word), Some('3'));
        assert_eq!(without_bitcode(word), None);
        let word = OsString::from("-Wl,--gc-sections,-plugin-opt=O0,-z,now");
        assert_eq!(level(&word), Some('0'));
        assert_eq!(without_bitcode(word), Some("-Wl,--gc-sections,-z,now".into()));
        let word = OsString::from("-Wl,-O1");
        assert_eq!(level(&word), None);
        assert_eq!(without_bitcode(word.clone()), Some(word));
    }

    #[test]
    fn a_crate_is_named_after_its_archive() {
        assert_eq!(crate_of("libzstd_sys-12ab.rlib"), "zstd_sys");
        assert_eq!(crate_of("libodd.a"), "odd");
    }
}
