//! Process groups: a program under audit ends with all that it has started, and none outlives dp-audit.
//!
//! A program is the leader of a group of its own, so what it starts belongs to the group and is killed with it, unless it leaves the group on
//! purpose. The terminal's Ctrl-C no longer reaches such a program: [`end_on_signals`] passes the end on.

use std::io;
use std::process::{self, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The leaders of all groups that have not been ended.
static LIVE: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn live() -> MutexGuard<'static, Vec<u32>> {
    LIVE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A running program and all that it has started. Dropping it ends them.
pub struct Group {
    /// Waited for by `end` only: until then no other process gets its number.
    leader: process::Child,
}

impl Group {
    /// Starts the program.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        // Whoever ends all groups finds this one, or it is not started any more.
        let mut live = live();
        let leader = command.spawn()?;
        live.push(leader.id());
        Ok(Self { leader })
    }

    /// The program itself, for its pipes.
    pub fn leader(&mut self) -> &mut process::Child {
        &mut self.leader
    }

    /// Whether the program itself has ended.
    #[cfg(unix)]
    pub fn has_ended(&mut self) -> bool {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        matches!(waitid(WaitId::Pid(Pid::from_child(&self.leader)), look), Ok(Some(_)))
    }

    /// Whether the program itself has ended.
    #[cfg(not(unix))]
    pub fn has_ended(&mut self) -> bool {
        matches!(self.leader.try_wait(), Ok(Some(_)))
    }

    /// Ends all that still runs; returns how the program itself ended.
    pub fn end(&mut self) -> io::Result<ExitStatus> {
        let mut live = live();
        if let Some(place) = live.iter().position(|leader| *leader == self.leader.id()) {
            live.swap_remove(place);
            #[cfg(unix)]
            unix::kill(self.leader.id());
            // Fails only if the program has ended already.
            #[cfg(not(unix))]
            let _ = self.leader.kill();
        }
        drop(live);
        self.leader.wait()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.end();
    }
}

/// From now on SIGHUP, SIGINT, SIGQUIT and SIGTERM end all programs under audit, and then this one with the exit code 128 + signal.
///
/// For the program, not for libraries: signals belong to whoever has `main`. A signal that was ignored at the start stays ignored, as `nohup` wants it.
/// Does nothing where there are no such signals.
///
/// # Errors
/// When the system does not allow it.
#[cfg(feature = "cli")]
pub fn end_on_signals() -> io::Result<()> {
    #[cfg(unix)]
    signals::end_on_signals()?;
    Ok(())
}

#[cfg(unix)]
mod unix {
    use rustix::process::{Pid, Signal, kill_process_group};

    /// Kills a group, whose leader has not been waited for.
    pub fn kill(leader: u32) {
        if let Some(group) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
            // Fails only if all have ended already.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }

}

#[cfg(all(unix, feature = "cli"))]
mod signals {
    use std::{fs, io, process, thread};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    use signal_hook::iterator::Signals;

    pub fn end_on_signals() -> io::Result<()> {
        let ignored = ignored();
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGQUIT, SIGTERM].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0))?;
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            if let Some(signal) = signals.forever().next() {
                // Held to the end, so that nothing is started any more.
                let live = super::live();
                live.iter().for_each(|leader| super::unix::kill(*leader));
                process::exit(128 + signal);
            }
        })?;
        Ok(())
    }

    /// The signals that are ignored, a bit each, from SIGHUP up. Only Linux tells.
    fn ignored() -> u64 {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}
