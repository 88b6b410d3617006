//! Process groups: when a program under audit ends, all processes that it has started are killed,
//! and none of them outlives dp-audit.
//!
//! Each program is the leader of its own process group. The processes that it starts belong to the
//! group and are killed with it, unless they leave the group on purpose. Ctrl-C in the terminal
//! does not reach another process group, so [`end_on_signals`] kills the groups.

use std::io;
use std::process::{self, Command, ExitStatus};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The process ids of the leaders of all groups that have not been killed.
static RUNNING: Mutex<Vec<u32>> = Mutex::new(Vec::new());

fn running() -> MutexGuard<'static, Vec<u32>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A running program and all processes that it has started. Dropping it kills them.
pub struct ProcessGroup {
    /// Only `kill` waits for it: until then no other process can get its process id.
    leader: process::Child,
}

impl ProcessGroup {
    /// Starts the program.
    pub fn start(command: &mut Command) -> io::Result<Self> {
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(command, 0);
        // The lock is held while the program starts. So the signal handler either sees this group
        // or prevents its start.
        let mut running = running();
        let leader = command.spawn()?;
        running.push(leader.id());
        Ok(Self { leader })
    }

    /// The program itself, for access to its pipes.
    pub fn leader(&mut self) -> &mut process::Child {
        &mut self.leader
    }

    /// Whether the program itself has ended.
    #[cfg(unix)]
    pub fn has_ended(&mut self) -> bool {
        use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        matches!(waitid(WaitId::Pid(Pid::from_child(&self.leader)), options), Ok(Some(_)))
    }

    /// Whether the program itself has ended.
    #[cfg(not(unix))]
    pub fn has_ended(&mut self) -> bool {
        matches!(self.leader.try_wait(), Ok(Some(_)))
    }

    /// Kills all processes of the group that still run. Returns how the program itself ended.
    pub fn kill(&mut self) -> io::Result<ExitStatus> {
        let mut running = running();
        if let Some(index) = running.iter().position(|leader| *leader == self.leader.id()) {
            running.swap_remove(index);
            #[cfg(unix)]
            unix::kill(self.leader.id());
            // Fails only if the program has already ended.
            #[cfg(not(unix))]
            let _ = self.leader.kill();
        }
        drop(running);
        self.leader.wait()
    }
}

impl Drop for ProcessGroup {
    fn drop(&mut self) {
        let _ = self.kill();
    }
}

/// Installs a handler: SIGHUP, SIGINT, SIGQUIT and SIGTERM kill all programs under audit and then
/// end this process with exit code 128 + signal.
///
/// Only the program calls it, because a library must not change the signal handling of its host. A
/// signal that was ignored at the start stays ignored, as `nohup` requires. On systems without
/// these signals it does nothing.
///
/// # Errors
/// When the system does not allow it.
#[cfg(feature = "cli")]
pub fn end_on_signals(farewell: impl FnOnce() + Send + 'static) -> io::Result<()> {
    #[cfg(unix)]
    signals::end_on_signals(farewell)?;
    #[cfg(not(unix))]
    drop(farewell);
    Ok(())
}

#[cfg(unix)]
mod unix {
    use rustix::process::{Pid, Signal, kill_process_group};

    /// Kills a group. Its leader has not been waited for, so the process id still belongs to the
    /// group.
    pub fn kill(leader: u32) {
        if let Some(group) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
            // Fails only if all its processes have already ended.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

#[cfg(all(unix, feature = "cli"))]
mod signals {
    use std::sync::mpsc;
    use std::time::Duration;
    use std::{fs, io, process, thread};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
    use signal_hook::iterator::Signals;

    /// How long to wait for the farewell. It must not keep the process alive, for example because
    /// nobody reads what it prints.
    const FAREWELL: Duration = Duration::from_millis(300);

    pub fn end_on_signals(farewell: impl FnOnce() + Send + 'static) -> io::Result<()> {
        let ignored = ignored();
        let mut signals = Signals::new(
            [SIGHUP, SIGINT, SIGQUIT, SIGTERM]
                .into_iter()
                .filter(|signal| ignored >> (signal - 1) & 1 == 0),
        )?;
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            if let Some(signal) = signals.forever().next() {
                // The lock is held until the exit, so that no other program can be started.
                let running = super::running();
                running.iter().for_each(|leader| super::unix::kill(*leader));
                let (done, said) = mpsc::channel();
                let speaker = thread::Builder::new().spawn(move || {
                    farewell();
                    let _ = done.send(());
                });
                if speaker.is_ok() {
                    let _ = said.recv_timeout(FAREWELL);
                }
                process::exit(128 + signal);
            }
        })?;
        Ok(())
    }

    /// The ignored signals, one bit each, starting with SIGHUP. Only Linux provides them.
    fn ignored() -> u64 {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}
