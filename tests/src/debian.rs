//! What this machine lacks, and how apt provides it: Debian packages and sources.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::outputs::target_dir;
use crate::process::{run, run_for};
use crate::scratch::entries;

/// What building the project and running every test needs on a bare Debian 12, besides cargo and a
/// C compiler.
pub const TEST_PACKAGES: [&str; 28] = [
    "clang-22",           // the compiler the pass is a plug-in of
    "lld-22",             // linking with LTO
    "llvm-22-dev",        // headers for the shim of the pass, llvm-config
    "libclang-rt-22-dev", // programs with sanitizers
    "flang-22",           // Fortran programs
    "libflang-22-dev",    // flang's run-time library
    "libomp-22-dev",      // OpenMP programs
    "libstdc++-12-dev",   // C++ programs
    "g++",                // compiles the shim where CXX is not set
    "make",               // toy and real projects
    "cmake",              // toy and real projects
    "dpkg-dev",           // unpacking Debian sources
    "zlib1g-dev",         // minimap2
    "libsimde-dev",       // minimap2
    "libtbb-dev",         // a oneTBB program
    "chromium",           // draws the report
    "libopenmpi-dev",     // MPI programs; the tests use both libraries
    "openmpi-bin",
    "libmpich-dev",
    "mpich",
    "python3-venv", // readers of exports
    "valgrind",     // callgrind_annotate
    "strace",       // counts system calls
    "faketime",     // stands in front of the C library, as these allocators do
    "libjemalloc2",
    "libmimalloc2.0",
    "libtcmalloc-minimal4",
    "otf2-tools", // reads OTF2
];

pub const DEMO_PACKAGES: [&str; 6] =
    ["clang-22", "lld-22", "llvm-22-dev", "g++", "make", "dpkg-dev"];

/// Installs those of `packages` that are missing, and says which. Root or sudo is needed only if
/// one is missing.
///
/// # Errors
/// When apt fails; the message says what to do.
pub fn ensure(packages: &[&str]) -> Result<()> {
    let missing = missing(packages)?;
    if missing.is_empty() {
        return Ok(());
    }
    println!("installing Debian packages: {}", missing.join(" "));
    std::io::stdout().flush()?;
    let explain =
        || format!("install them by hand, then try again: apt-get install {}", missing.join(" "));
    let limit = Duration::from_secs(1200);
    run_for(as_root("apt-get").args(["update", "-qq"]), limit)?.ok().with_context(explain)?;
    let mut install = as_root("apt-get");
    install.args(["install", "-y", "-qq", "--no-install-recommends"]).args(&missing);
    run_for(&mut install, limit)?.ok().with_context(explain)?;
    let still = self::missing(packages)?;
    if !still.is_empty() {
        bail!("apt-get succeeded, but these are not installed: {}", still.join(" "));
    }
    Ok(())
}

fn missing<'a>(packages: &[&'a str]) -> Result<Vec<&'a str>> {
    let mut absent = Vec::new();
    for &package in packages {
        let mut query = Command::new("dpkg-query");
        query.args(["-W", "-f", "${db:Status-Status}", package]);
        let done = run(&mut query).context("this is no Debian machine: dpkg-query does not run")?;
        if done.out().trim() != "installed" {
            absent.push(package);
        }
    }
    Ok(absent)
}

/// A command run as root: directly, or by sudo without a question.
fn as_root(program: &str) -> Command {
    let root = run(Command::new("id").arg("-u")).is_ok_and(|d| d.out().trim() == "0");
    let mut command = if root {
        Command::new(program)
    } else {
        let mut sudo = Command::new("sudo");
        sudo.args(["-n", "DEBIAN_FRONTEND=noninteractive", program]);
        sudo
    };
    command.env("DEBIAN_FRONTEND", "noninteractive");
    command
}

/// Where sources are kept between runs; Debian's version is part of their names.
#[must_use]
pub fn cache() -> PathBuf {
    target_dir().join("tmp/contech/debian")
}

/// Whether a source can be fetched; prints the reason if not.
#[must_use]
pub fn available(package: &str) -> bool {
    match source(package, &cache()) {
        Ok(_) => true,
        Err(error) => {
            println!("not tested: {error:#}");
            false
        }
    }
}

/// Fetches the source of a Debian package into `dir`, unpacks it, and returns the directory of the
/// unpacked tree. Where the archive has lost Debian's changes, the tree is the source as its
/// authors made it.
///
/// The function asks the machine's own Debian archives through a private apt configuration under
/// `dir`. So it changes nothing of the machine's configuration and needs no root.
///
/// # Errors
/// When there is no network or no such source.
pub fn source(package: &str, dir: &Path) -> Result<PathBuf> {
    let to = dir.join(package);
    // Two processes may want sources at once, and apt serves one.
    fs::create_dir_all(dir)?;
    let turn = File::create(dir.join("lock"))?;
    turn.lock()?;
    if let Some(tree) = unpacked(&to)? {
        return Ok(tree);
    }
    let lists = dir.join("apt");
    fetch_lists(&lists)?;
    fs::create_dir_all(&to)?;
    let fetch = |only: &[&str]| {
        let mut fetch = apt(&lists);
        fetch.current_dir(&to).args(["source", "-qq", "--only-source"]).args(only).arg(package);
        run(&mut fetch)?.ok().with_context(|| format!("cannot fetch the source of {package}"))
    };
    if let Err(error) = fetch(&[]) {
        // Some archives have lost Debian's part of a source and kept that of its authors.
        fetch(&["--tar-only"]).map_err(|_| error)?;
        unpack_tars(&to)?;
    }
    unpacked(&to)?
        .with_context(|| format!("apt-get source {package} left no tree in {}", to.display()))
}

fn unpack_tars(dir: &Path) -> Result<()> {
    for path in entries(dir)? {
        let name = path.to_string_lossy();
        // Some archives have a signature beside them.
        if name.contains(".orig.tar.") && !name.ends_with(".asc") {
            let mut tar = Command::new("tar");
            tar.current_dir(dir).arg("-xf").arg(&path);
            run(&mut tar)?.ok()?;
        }
    }
    Ok(())
}

/// The directory in `dir`, if there is one.
fn unpacked(dir: &Path) -> Result<Option<PathBuf>> {
    if !dir.exists() {
        return Ok(None);
    }
    Ok(entries(dir)?.into_iter().find(|path| path.is_dir()))
}

/// minimap2's own two mitochondrial genomes, and one of them cut into reads at every so many bases.
///
/// # Errors
/// When they are not in the source.
pub fn genomes(tree: &Path, step: usize) -> Result<[String; 2]> {
    const READ: usize = 1500;
    let read = |name: &str| fs::read_to_string(tree.join("test").join(name));
    let orang = read("MT-orang.fa")?;
    let bases: String = orang.lines().skip(1).collect();
    let cuts = (0..bases.len().saturating_sub(READ)).step_by(step);
    let reads = cuts.map(|at| format!(">read{at}\n{}\n", &bases[at..at + READ])).collect();
    Ok([read("MT-human.fa")? + &orang, reads])
}

/// An apt that knows only the sources of the Debian archives that this machine is configured for,
/// from lists in this folder.
fn apt(dir: &Path) -> Command {
    let mut command = Command::new("apt-get");
    for (key, path) in [
        ("Dir::Etc::SourceList", dir.join(SOURCES)),
        ("Dir::Etc::SourceParts", "/dev/null".into()),
        ("Dir::State::Lists", dir.join("lists")),
        ("Dir::Cache", dir.join("cache")),
    ] {
        command.arg("-o").arg(format!("{key}={}", path.display()));
    }
    // apt drops to an unprivileged user, who cannot see a private directory.
    command.args(["-o", "APT::Sandbox::User=root"]);
    command
}

const SOURCES: &str = "sources.list";

/// Fetches the lists of [`apt`], unless they are there.
fn fetch_lists(dir: &Path) -> Result<()> {
    let fetched = dir.join("fetched");
    if fetched.exists() {
        return Ok(());
    }
    for sub in ["lists/partial", "cache/archives/partial"] {
        fs::create_dir_all(dir.join(sub))?;
    }
    let archives = archives()?;
    if archives.is_empty() {
        bail!("apt knows no Debian archive (apt-get update has never run?)");
    }
    fs::write(dir.join(SOURCES), archives)?;
    let update = run(apt(dir).args(["update", "-qq"]))?;
    update.ok().context("cannot read the lists of Debian sources")?;
    Ok(fs::write(fetched, "")?)
}

/// One `deb-src` line per Debian archive and component in use.
fn archives() -> Result<String> {
    const KEYS: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";
    let signed =
        if Path::new(KEYS).exists() { format!("[signed-by={KEYS}] ") } else { String::new() };
    let mut query = Command::new("apt-get");
    let format = "$(REPO_URI) $(RELEASE) $(COMPONENT)";
    query.args(["indextargets", "--format", format, "Created-By: Packages", "Origin: Debian"]);
    let known = run(&mut query)?.ok()?.out();
    let known = known.lines().filter(|l| l.ends_with(" main"));
    let lines: BTreeSet<String> = known.map(|l| format!("deb-src {signed}{l}\n")).collect();
    Ok(lines.into_iter().collect())
}
