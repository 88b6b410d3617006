//! One child process: its pipes, its time limit, the end of its standard error, its own end.
//!
//! Three threads stand at the pipes, so that no step waits longer than the time limit, whatever the child reads, writes or leaves undone.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::CommandLine;
use super::group::Group;
use super::protocol::{self, Greeting, Hello, Reply, Request};
use crate::output::{Rows, Symbols};
use crate::target::{Problem, TargetError};

/// Bytes read at once.
const READ: usize = 1 << 16;
/// Reads that may wait to be looked at; a child that writes without being asked is held up by then.
const WAITING: usize = 4;
/// A longer line is not a message.
const MOST_LINE: usize = 1 << 26;
/// So much of what was last written to standard error is shown.
const STDERR_TAIL: usize = 2000;
/// How long a child that has closed its output may take to end.
const GRACE: Duration = Duration::from_secs(1);

/// A running program. Dropping it ends it, and whatever it has started.
pub struct Child {
    command: CommandLine,
    group: Group,
    /// Lines for its standard input.
    input: Sender<Vec<u8>>,
    output: Output,
    errors: StderrTail,
}

impl Child {
    /// Starts the program.
    pub fn start(command: &CommandLine) -> Result<Self, TargetError> {
        Self::with_pipes(command).map_err(|error| {
            let remedy = if error.kind() == io::ErrorKind::WouldBlock {
                "the system allows no more processes or threads; choose fewer with --threads"
            } else {
                "is it installed, and the path relative to the audit file's folder?"
            };
            command.fails(Problem::NotStarted { reason: format!("{error}; {remedy}") }, String::new())
        })
    }

    fn with_pipes(command: &CommandLine) -> io::Result<Self> {
        let mut starting = Command::new(command.program());
        starting.args(command.arguments()).current_dir(&command.folder);
        let mut group = Group::start(starting.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()))?;
        let leader = group.leader();
        let pipes = (leader.stdin.take(), leader.stdout.take(), leader.stderr.take());
        let (Some(mut stdin), Some(stdout), Some(stderr)) = pipes else { return Err(io::Error::other("it has no pipes")) };
        let (input, lines) = mpsc::channel::<Vec<u8>>();
        beside(move || {
            // A child that no longer reads has ended or will run out of time: its output tells.
            for line in lines {
                if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { command: command.clone(), group, input, output: Output::new(stdout)?, errors: StderrTail::of(stderr)? })
    }

    /// Sends what does not change, and hears what the outputs look like.
    pub fn greet(&mut self, greeting: &Greeting) -> Result<Hello, TargetError> {
        self.talk("to say hello", greeting.line(), |output, deadline| Ok(Hello::parse(&output.line(deadline)?)?))
    }

    /// Asks for outputs: exactly as many as asked for, or an error.
    pub fn ask(&mut self, request: &Request, width: usize) -> Result<(Rows, Symbols), TargetError> {
        let count = request.count;
        if let Some(line) = self.output.uncalled_for() {
            return Err(self.fail(Problem::Answer { reason: format!("it wrote more than it was asked for: {line}") }));
        }
        self.talk(&format!("to answer a request for {count} outputs"), request.line(), |output, deadline| {
            output.rows(count, width, deadline)
        })
    }

    /// One message and its answer, within the time limit.
    fn talk<T>(
        &mut self,
        task: &str,
        message: Vec<u8>,
        listen: impl FnOnce(&mut Output, Instant) -> Result<T, Trouble>,
    ) -> Result<T, TargetError> {
        let deadline = Instant::now() + self.command.timeout;
        // If the writing thread has given up, the child's output tells why.
        let _ = self.input.send(message);
        listen(&mut self.output, deadline).map_err(|trouble| {
            let problem = match trouble {
                Trouble::Problem(problem) => problem,
                Trouble::Silence => Problem::Hung { seconds: self.command.timeout.as_secs_f64().to_string(), task: task.to_owned() },
                Trouble::End => Problem::Ended { how: self.end(), task: task.to_owned() },
            };
            self.fail(problem)
        })
    }

    /// How the process ended.
    fn end(&mut self) -> String {
        let limit = Instant::now() + GRACE;
        while !self.group.has_ended() {
            if Instant::now() >= limit {
                return "closed its output".to_owned();
            }
            thread::sleep(Duration::from_millis(2));
        }
        self.group.end().map_or_else(|error| format!("ended ({error})"), |status| format!("ended ({status})"))
    }

    /// Ends the child; the error has what it last wrote to standard error.
    pub fn fail(&mut self, problem: Problem) -> TargetError {
        let _ = self.group.end();
        self.command.fails(problem, self.errors.text())
    }
}

/// Does this on a thread of its own.
fn beside(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().spawn(work).map(|_| ())
}

/// Why no answer came.
#[derive(Debug, PartialEq)]
pub enum Trouble {
    /// What came was wrong.
    Problem(Problem),
    /// Nothing came in time.
    Silence,
    /// Nothing will come.
    End,
}

impl From<Problem> for Trouble {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

/// The child's standard output, read by a thread.
struct Output {
    reads: Receiver<Vec<u8>>,
    buffer: Vec<u8>,
    /// How much of the buffer has been taken.
    taken: usize,
}

impl Output {
    fn new(mut pipe: impl Read + Send + 'static) -> io::Result<Self> {
        let (sender, reads) = mpsc::sync_channel(WAITING);
        beside(move || {
            loop {
                let mut bytes = vec![0; READ];
                match pipe.read(&mut bytes) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    Ok(0) | Err(_) => break,
                    Ok(length) => {
                        bytes.truncate(length);
                        if sender.send(bytes).is_err() {
                            break;
                        }
                    }
                }
            }
        })?;
        Ok(Self { reads, buffer: Vec::new(), taken: 0 })
    }

    /// The answer to a request for `count` outputs: exactly as many, or trouble.
    fn rows(&mut self, count: usize, width: usize, deadline: Instant) -> Result<(Rows, Symbols), Trouble> {
        let reply = Reply::parse(&self.line(deadline)?)?;
        let got = reply.count();
        if got != count {
            return Err(Problem::WrongCount { asked: count, got }.into());
        }
        Ok(match reply {
            Reply::Values(values) => protocol::rows_of_values(&values, width)?,
            Reply::Block { symbols, .. } => protocol::rows_of_block(self.exactly(count * width * 8, deadline)?, &symbols, width)?,
        })
    }

    /// What has come without being asked for: its beginning.
    fn uncalled_for(&mut self) -> Option<String> {
        while let Ok(bytes) = self.reads.try_recv() {
            self.buffer.extend(bytes);
        }
        let rest = &self.buffer[self.taken..];
        (!rest.is_empty()).then(|| protocol::beginning(&String::from_utf8_lossy(rest)))
    }

    /// Waits for more bytes.
    fn wait(&mut self, deadline: Instant) -> Result<(), Trouble> {
        let bytes = self.reads.recv_timeout(deadline.saturating_duration_since(Instant::now())).map_err(|error| match error {
            RecvTimeoutError::Timeout => Trouble::Silence,
            RecvTimeoutError::Disconnected => Trouble::End,
        })?;
        self.buffer.drain(..self.taken);
        self.taken = 0;
        self.buffer.extend(bytes);
        Ok(())
    }

    /// The next line.
    fn line(&mut self, deadline: Instant) -> Result<String, Trouble> {
        let mut searched = 0;
        loop {
            let rest = &self.buffer[self.taken..];
            if let Some(end) = rest[searched..].iter().position(|byte| *byte == b'\n') {
                let line = String::from_utf8_lossy(&rest[..searched + end]).into_owned();
                self.taken += searched + end + 1;
                return Ok(line);
            }
            searched = rest.len();
            if searched > MOST_LINE {
                return Err(Problem::Answer { reason: format!("it wrote {searched} bytes without an end of line") }.into());
            }
            self.wait(deadline)?;
        }
    }

    /// The next so many bytes.
    fn exactly(&mut self, length: usize, deadline: Instant) -> Result<&[u8], Trouble> {
        while self.buffer.len() - self.taken < length {
            self.wait(deadline)?;
        }
        self.taken += length;
        Ok(&self.buffer[self.taken - length..self.taken])
    }
}

/// The end of what the child wrote to standard error, read by a thread.
struct StderrTail {
    bytes: Arc<Mutex<VecDeque<u8>>>,
    /// Never sends; it is gone when the pipe is closed.
    open: Receiver<()>,
}

impl StderrTail {
    fn of(mut pipe: impl Read + Send + 'static) -> io::Result<Self> {
        let bytes = Arc::new(Mutex::new(VecDeque::new()));
        let (closing, open) = mpsc::channel::<()>();
        let words = Arc::clone(&bytes);
        beside(move || {
            let mut read = [0; 4096];
            while let Ok(length @ 1..) = pipe.read(&mut read) {
                let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
                words.extend(&read[..length]);
                let excess = words.len().saturating_sub(STDERR_TAIL);
                words.drain(..excess);
            }
            drop(closing);
        })?;
        Ok(Self { bytes, open })
    }

    /// All of it, once the child has ended.
    fn text(&self) -> String {
        // A child of the child may keep the pipe open, if it has left the group.
        let _ = self.open.recv_timeout(GRACE);
        let bytes: Vec<u8> = self.bytes.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }
}

#[cfg(test)]
mod tests;
