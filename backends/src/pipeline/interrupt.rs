//! A signal that asks `contech run` to end ends what runs for it, too. What was recorded stays, and
//! the last line says where it is.
//!
//! Ctrl-C is special while the recorded program runs: it has got it from the terminal as well, and
//! may end as it likes; its graph is wanted.

use std::io;
use std::process::{Child, Command, ExitStatus, exit};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process, waitid};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::view::say;

/// What a signal meets.
#[derive(Debug, Default)]
struct State {
    /// The process that runs now, until it is waited for.
    running: Option<(Pid, Work)>,
    /// The signal that asked to end.
    asked: Option<Signal>,
    /// A sentence for the user; `None` while the program runs.
    left: Option<String>,
}

/// What a process does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Work {
    /// It is the recorded program.
    Program,
    /// It does a step for us.
    Step,
}

/// What a signal leaves behind.
#[derive(Clone, Debug)]
pub(super) struct Interrupt(Arc<Mutex<State>>);

/// Takes the signals from now on.
pub(super) fn install() -> io::Result<Interrupt> {
    let interrupt = Interrupt(Arc::default());
    let ours = interrupt.clone();
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    thread::spawn(move || {
        for number in signals.forever() {
            if let Some(signal) = Signal::from_named_raw(number) {
                ours.arrived(signal);
            }
        }
    });
    Ok(interrupt)
}

impl Interrupt {
    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn arrived(&self, signal: Signal) {
        let mut state = self.state();
        let is_program = matches!(state.running, Some((_, Work::Program)));
        if signal == Signal::INT && is_program && is_of_terminal() {
            return;
        }
        let again = state.asked.replace(signal).is_some();
        match (&state.running, &state.left) {
            (&Some((pid, work)), _) => {
                // Who goes on is not asked twice. It is a child that was not waited for, so it is
                // no other process.
                let signal = match work {
                    _ if again => Signal::KILL,
                    Work::Program => signal,
                    Work::Step => Signal::TERM,
                };
                let _ = kill_process(pid, signal);
            }
            (None, Some(left)) => stop(signal, left),
            // The program has not begun, or has just ended: `asked` is looked at.
            (None, None) => {}
        }
    }

    /// Runs a command to its end; a signal that comes meanwhile ends it.
    pub(super) fn run(&self, command: &mut Command, work: Work) -> io::Result<(Child, ExitStatus)> {
        let mut state = self.state();
        let mut child = command.spawn()?;
        let pid = Pid::from_child(&child);
        state.running = Some((pid, work));
        if let Some(signal) = state.asked {
            let _ = kill_process(pid, signal);
        }
        drop(state);
        // As long as it is not waited for, its number is its own.
        let ended = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(error) = waitid(WaitId::Pid(pid), ended) {
            if error != rustix::io::Errno::INTR {
                break;
            }
        }
        let mut state = self.state();
        let status = child.wait();
        state.running = None;
        drop(state);
        Ok((child, status?))
    }

    /// Says what is `left` from now on. If a signal has come before, it ends this process.
    pub(super) fn leaves(&self, left: String) {
        self.state().left = Some(left);
        self.check();
    }

    /// Ends this process if a signal has asked for it.
    pub(super) fn check(&self) {
        let state = self.state();
        if let (Some(signal), Some(left)) = (state.asked, &state.left) {
            stop(signal, left);
        }
    }
}

/// Whether the terminal sends ctrl-C to this process and its children: they are in front.
fn is_of_terminal() -> bool {
    let Ok(terminal) = std::fs::File::open("/dev/tty") else {
        return false;
    };
    rustix::termios::tcgetpgrp(terminal).is_ok_and(|group| group == rustix::process::getpgrp())
}

/// Ends this process as a shell says that the signal does.
pub(super) fn stop(signal: Signal, left: &str) -> ! {
    match signal {
        Signal::INT => say!("contech: interrupted; {left}"),
        other => say!("contech: ended by signal {}; {left}", other.as_raw()),
    }
    exit(128 + signal.as_raw())
}
