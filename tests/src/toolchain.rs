//! Compiles a test program, natively and with the drivers under test, by the same steps.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::outputs::Outputs;
use crate::process::run;
use crate::program::{Language, Program};

#[derive(Debug, Clone)]
pub struct Toolchain {
    cc: PathBuf,
    cxx: PathBuf,
    fc: PathBuf,
}

impl Toolchain {
    /// Plain clang and flang of the version that the pass is built for.
    #[must_use]
    pub fn native() -> Self {
        Self {
            cc: "clang-22".into(),
            cxx: "clang++-22".into(),
            fc: "flang-22".into(),
        }
    }

    #[must_use]
    pub fn contech() -> Self {
        Self::of(Outputs::get().dir())
    }

    /// The drivers in a folder.
    #[must_use]
    pub fn of(folder: &Path) -> Self {
        Self {
            cc: folder.join("contech-cc"),
            cxx: folder.join("contech-c++"),
            fc: folder.join("contech-fc"),
        }
    }

    #[must_use]
    pub fn compiler(&self, cxx: bool) -> &Path {
        if cxx { &self.cxx } else { &self.cc }
    }

    #[must_use]
    pub fn compiler_of(&self, source: &Path) -> &Path {
        match Language::of(source) {
            Language::C => &self.cc,
            Language::Cxx => &self.cxx,
            Language::Fortran => &self.fc,
        }
    }

    pub fn object(&self, source: &Path, flags: &[String], to: &Path) -> Result<PathBuf> {
        let stem = source.file_stem().context("a source has a name")?;
        let object = to.join(stem).with_extension("o");
        let mut command = Command::new(self.compiler_of(source));
        command
            .args(flags)
            .arg("-c")
            .arg(source)
            .arg("-o")
            .arg(&object);
        run(&mut command)?.ok()?;
        Ok(object)
    }

    /// Compiles and links a program at an optimisation level into `to/prog`.
    pub fn program(&self, program: &Program, level: &str, to: &Path) -> Result<PathBuf> {
        let fortran = Language::of(&program.source) == Language::Fortran;
        let mut flags = vec![format!("-{level}")];
        if !fortran {
            flags.push("-pthread".to_owned());
        }
        let own = |flag: &&String| flag.starts_with("--contech-");
        let native = self.cc == Self::native().cc;
        flags.extend(
            program
                .flags
                .iter()
                .filter(|f| !(native && own(f)))
                .cloned(),
        );
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
            command
                .arg(self.library(source, &flags, to)?)
                .arg("-Wl,-rpath,$ORIGIN");
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
        command
            .args(flags)
            .args(["-shared", "-fPIC"])
            .arg(source)
            .arg("-o")
            .arg(&library);
        // The name has no directory, so that $ORIGIN finds the library.
        command.arg(format!("-Wl,-soname,{}.so", name.display()));
        run(&mut command)?.ok()?;
        Ok(library)
    }
}
