//! CPU time and peak memory of one child process.
#![allow(
    unsafe_code,
    reason = "wait4 is the only call that says what one child used, and priority is set between fork and exec"
)]

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::mem::MaybeUninit;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use contech_tests::process::line_of;

/// Ticks of a second in `/proc`, on all architectures that Linux runs on here.
const TICKS: f64 = 100.0;

/// What one run used; times are in seconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Usage {
    /// CPU time in user mode, all threads.
    pub(crate) user: f64,
    /// CPU time in user mode and in the kernel.
    pub(crate) cpu: f64,
    /// Time from start to end.
    pub(crate) wall: f64,
    /// Peak resident set in bytes.
    pub(crate) peak_bytes: u64,
}

/// Gives a command priority over other programs, as far as that is allowed. Linux divides the
/// processors among sessions first, so it gets one of its own.
pub(crate) fn with_priority(command: &mut Command) -> &mut Command {
    let first = || {
        // SAFETY: these calls are safe between fork and exec, and all pointers are to constants.
        unsafe {
            libc::setsid();
            libc::setpriority(libc::PRIO_PROCESS, 0, -20);
            let group = libc::open(c"/proc/self/autogroup".as_ptr(), libc::O_WRONLY);
            if group >= 0 {
                libc::write(group, c"-20".as_ptr().cast(), 3);
                libc::close(group);
            }
        }
        Ok(())
    };
    // SAFETY: the function only makes such calls, and takes no memory.
    unsafe { command.pre_exec(first) }
}

/// Starts a command without input; also says when it began, and its line.
fn start(command: &mut Command) -> Result<(Child, Instant, String)> {
    let (line, begun) = (line_of(command), Instant::now());
    let child = command.stdin(Stdio::null()).spawn();
    Ok((child.with_context(|| format!("cannot start {line}"))?, begun, line))
}

/// Runs a command to its end; returns its standard output and what it used.
pub(crate) fn measure(command: &mut Command) -> Result<(Vec<u8>, Usage)> {
    let (mut child, begun, line) = start(command.stdout(Stdio::piped()))?;
    let mut out = Vec::new();
    child.stdout.take().context("a pipe was asked for")?.read_to_end(&mut out)?;
    Ok((out, ended(&child, &line, begun)?))
}

/// Runs a command to its end; `each` gets every line of its standard error, with the wall and CPU
/// time that it and the processes it has waited for had spent by then.
pub(crate) fn watched(
    command: &mut Command,
    mut each: impl FnMut(&str, (f64, f64)),
) -> Result<Usage> {
    let command = command.stdout(Stdio::null()).stderr(Stdio::piped());
    let (mut child, begun, line) = start(command)?;
    let said = child.stderr.take().context("a pipe was asked for")?;
    for said in BufReader::new(said).lines() {
        each(&said?, (begun.elapsed().as_secs_f64(), cpu_of(child.id())?));
    }
    ended(&child, &line, begun)
}

/// The CPU time of a process and of those it has waited for.
fn cpu_of(pid: u32) -> Result<f64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name of the program may have any letter in it.
    let (_, fields) = stat.rsplit_once(')').context("a process has a name")?;
    let ticks = fields.split_whitespace().skip(11).take(4);
    let ticks = ticks.map(str::parse::<u32>).sum::<Result<u32, _>>()?;
    Ok(f64::from(ticks) / TICKS)
}

/// Waits for a child that has said all.
fn ended(child: &Child, line: &str, begun: Instant) -> Result<Usage> {
    let pid = i32::try_from(child.id())?;
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: both pointers are to live, writable objects of the types that wait4 fills. Nobody
    // else waits for `child`, so the id still names our child.
    let waited = unsafe { libc::wait4(pid, &raw mut status, 0, usage.as_mut_ptr()) };
    if waited != pid {
        bail!("wait4 for {line}: {}", std::io::Error::last_os_error());
    }
    // SAFETY: a zeroed rusage is valid, and wait4 has succeeded in filling it.
    let usage = unsafe { usage.assume_init() };
    if status != 0 {
        bail!("{line} failed: wait status {status:#x}");
    }
    let time = |t: libc::timeval| -> Result<f64> {
        let time = Duration::new(t.tv_sec.try_into()?, u32::try_from(t.tv_usec)? * 1000);
        Ok(time.as_secs_f64())
    };
    let user = time(usage.ru_utime)?;
    Ok(Usage {
        user,
        cpu: user + time(usage.ru_stime)?,
        wall: begun.elapsed().as_secs_f64(),
        peak_bytes: u64::try_from(usage.ru_maxrss)? * 1024,
    })
}
