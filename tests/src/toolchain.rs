//! Compiles a test program, natively and with the drivers under test, by the same steps.

use std::fs::{self, File};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::matrix;
use crate::once::Once;
use crate::outputs::{home, output, target_dir};
use crate::process::run;
use crate::program::{Language, Program};
use crate::scratch::{Scratch, files};

#[derive(Debug, Clone)]
pub struct Toolchain {
    pub cc: PathBuf,
    pub cxx: PathBuf,
    pub fc: PathBuf,
}

impl Toolchain {
    /// Plain clang and flang of the version that the pass is built for.
    #[must_use]
    pub fn native() -> Self {
        Self { cc: "clang-22".into(), cxx: "clang++-22".into(), fc: "flang-22".into() }
    }

    #[must_use]
    pub fn contech() -> Self {
        let folder = home();
        Self {
            cc: folder.join("contech-cc"),
            cxx: folder.join("contech-c++"),
            fc: folder.join("contech-fc"),
        }
    }

    pub(crate) fn is_native(&self) -> bool {
        self.cc == Self::native().cc
    }

    #[must_use]
    pub fn compiler_of(&self, source: &Path) -> &Path {
        match Language::of(source) {
            Language::C => &self.cc,
            Language::Cxx => &self.cxx,
            Language::Fortran => &self.fc,
        }
    }

    /// The variables that tell a build which compilers to call.
    #[must_use]
    pub fn environment(&self) -> [(&'static str, &Path); 3] {
        [("CC", &self.cc), ("CXX", &self.cxx), ("FC", &self.fc)]
    }

    /// Writes a source, compiles it and links it with these flags to the file of its name without
    /// the extension; a command that runs the program.
    pub fn text(
        &self,
        scratch: &Scratch,
        name: &str,
        text: &str,
        flags: &[&str],
    ) -> Result<Command> {
        let source = scratch.write(name, text)?;
        self.compile(&source, flags, &source.with_extension(""))
    }

    /// Compiles and links a source with these flags; a command that runs the program.
    pub fn compile(&self, source: &Path, flags: &[&str], to: &Path) -> Result<Command> {
        let mut compile = Command::new(self.compiler_of(source));
        run(compile.arg(source).args(flags).arg("-o").arg(to))?.ok()?;
        Ok(Command::new(to))
    }

    pub fn object(&self, source: &Path, flags: &[String], to: &Path) -> Result<PathBuf> {
        let stem = source.file_stem().context("a source has a name")?;
        let object = to.join(stem).with_extension("o");
        let mut command = Command::new(self.compiler_of(source));
        command.args(flags).arg("-c").arg(source).arg("-o").arg(&object);
        run(&mut command)?.ok()?;
        Ok(object)
    }

    /// Compiles and links a program at an optimisation level into `to/prog`. What these tools have
    /// compiled before from the same files is linked there again.
    pub fn program(&self, program: &Program, level: &str, to: &Path) -> Result<PathBuf> {
        let name = format!("{}-{level}", program.name);
        let built =
            kept(self, &name, &sources(program)?, |to| self.build(program, level, to).map(drop))?;
        for file in fs::read_dir(&built)? {
            let file = file?;
            fs::hard_link(file.path(), to.join(file.file_name()))?;
        }
        Ok(to.join("prog"))
    }

    /// The same, and nothing is kept.
    pub(crate) fn build(&self, program: &Program, level: &str, to: &Path) -> Result<PathBuf> {
        let fortran = Language::of(&program.source) == Language::Fortran;
        let mut flags = vec![format!("-{level}")];
        if !fortran {
            flags.push("-pthread".to_owned());
        }
        let own = |flag: &&String| flag.starts_with("--contech-");
        let native = self.is_native();
        flags.extend(program.flags.iter().filter(|f| !(native && own(f))).cloned());
        let mut command = Command::new(self.compiler_of(&program.source));
        command.args(&flags);
        if fortran {
            // Modules come before those that use them. flang compiles only Fortran.
            for source in &program.with {
                command.arg(match Language::of(source) {
                    Language::Fortran => source.clone(),
                    Language::C | Language::Cxx => self.object(source, &flags, to)?,
                });
            }
            command.arg("-J").arg(to).arg(&program.source);
        } else {
            command.arg(&program.source).args(&program.with);
        }
        for source in &program.native {
            let plain = Self::native();
            command.arg(plain.object(source, &["-O1".to_owned()], to)?);
        }
        for source in &program.archive {
            let object = self.object(source, &flags, to)?;
            let archive = to.join("libpart.a");
            run(Command::new("ar").arg("rcs").arg(&archive).arg(&object))?.ok()?;
            command.arg(archive);
        }
        for source in &program.shared {
            command.arg(self.library(source, &flags, to)?).arg("-Wl,-rpath,$ORIGIN");
        }
        for source in &program.plugin {
            self.library(source, &flags, to)?;
        }
        let output = to.join("prog");
        command.arg("-o").arg(&output);
        run(&mut command)?.ok()?;
        Ok(output)
    }

    fn library(&self, source: &Path, flags: &[String], to: &Path) -> Result<PathBuf> {
        let name = source.file_stem().context("a source has a name")?;
        let library = to.join(name).with_extension("so");
        let mut command = Command::new(self.compiler_of(source));
        command.args(flags).args(["-shared", "-fPIC"]).arg(source).arg("-o").arg(&library);
        // The name has no directory, so that $ORIGIN finds the library.
        command.arg(format!("-Wl,-soname,{}.so", name.display()));
        run(&mut command)?.ok()?;
        Ok(library)
    }
}

/// A program's directives, and everything that is compiled with it.
///
/// # Errors
/// When a file cannot be read.
pub fn sources(program: &Program) -> Result<(String, Vec<Vec<u8>>)> {
    let folder = program.source.parent().context("a source has a folder")?;
    let mut all = vec![program.source.clone()];
    all.extend(files(folder, "h")?);
    let [with, native, archive] = [&program.with, &program.native, &program.archive];
    let more = [with, native, archive, &program.shared, &program.plugin];
    all.extend(more.into_iter().flatten().cloned());
    let texts = all.iter().map(fs::read).collect::<Result<_, _>>()?;
    Ok((format!("{program:?}"), texts))
}

/// A folder with what `make` makes in it with these tools. It is kept, and made again only when the
/// tools are others or `from` is.
///
/// # Errors
/// When it cannot be made; the next caller then tries again.
pub fn kept(
    tools: &Toolchain,
    name: &str,
    from: &impl Hash,
    make: impl FnOnce(&Path) -> Result<()>,
) -> Result<PathBuf> {
    let mut hash = DefaultHasher::new();
    from.hash(&mut hash);
    // What the drivers are told; how many trials run is nothing to them.
    let told = |name: &str| name.starts_with("CONTECH_") && name != matrix::VARIABLE;
    for (name, value) in std::env::vars().filter(|(name, _)| told(name)) {
        (name, value).hash(&mut hash);
    }
    let folder = folder_of(tools)?.join(format!("{name}-{:016x}", hash.finish()));
    // Who holds the lock makes it; there is something in the file when it is made.
    let mut options = File::options();
    let mut made = options.append(true).create(true).open(folder.with_added_extension("made"))?;
    made.lock()?;
    if made.metadata()?.len() == 0 {
        if folder.exists() {
            fs::remove_dir_all(&folder)?;
        }
        fs::create_dir(&folder)?;
        make(&folder)?;
        made.write_all(b"made")?;
    }
    Ok(folder)
}

/// The drivers, and what programs include from them.
pub(crate) fn drivers() -> Vec<PathBuf> {
    let names = ["contech-cc", "contech-cxx", "contech-fc"];
    let mut all = names.map(output).to_vec();
    for kind in ["h", "f90"] {
        all.extend(files(&output("include/contech"), kind).unwrap_or_default());
    }
    all
}

/// The compiler that the drivers call. When it was changed stands for what it is.
pub(crate) const CLANG: &str = "/usr/lib/llvm-22/bin/clang";

/// The folder of what is kept of these tools, as they are now. What was made with others is
/// removed.
fn folder_of(tools: &Toolchain) -> Result<PathBuf> {
    static KEPT: Once<PathBuf> = Once::new();
    let kind = if tools.is_native() { "native" } else { "recorded" };
    KEPT.get(kind, || {
        let mut hash = DefaultHasher::new();
        let about = fs::metadata(CLANG)?;
        (about.len(), about.modified()?).hash(&mut hash);
        if !tools.is_native() {
            // Of the libraries that a program loads when it runs, nothing is compiled into it.
            let pass = output("libcontech_instrument.so");
            for file in drivers().into_iter().chain([pass]) {
                fs::read(&file)?.hash(&mut hash);
            }
        }
        let all = target_dir().join("tmp/contech-built").join(kind);
        let kept = all.join(format!("{:016x}", hash.finish()));
        fs::create_dir_all(&kept)?;
        for old in fs::read_dir(&all)?.flatten().map(|entry| entry.path()) {
            if old.file_name() != kept.file_name() {
                let _ = fs::remove_dir_all(old);
            }
        }
        Ok(kept)
    })
}
