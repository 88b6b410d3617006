//! Runs one child process: its pipes, its time limit, the last part of its standard error, and how
//! it ended.
//!
//! Each of the three pipes has its own thread. So no step waits longer than the time limit,
//! whatever the child does.

use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::command::CommandLine;
use super::group::ProcessGroup;
use super::protocol::{self, Greeting, Hello, Reply, Request};
use crate::model::number::{counted, grouped};
use crate::model::text::printable;
use crate::output::OutputBlock;
use crate::target::error::HELLO_TASK;
use crate::target::{ProcessProblem, TargetError};

/// Bytes per read.
const READ_SIZE: usize = 1 << 16;
/// The number of reads in the queue. If the queue is full, the child's writes block, so unrequested
/// output cannot fill the memory.
const MAX_QUEUED_READS: usize = 4;
/// A line of more bytes is not a message.
const MAX_LINE_BYTES: usize = 1 << 26;
/// How many of the last bytes of standard error are shown.
const STDERR_TAIL_BYTES: usize = 2000;
/// The longest patience with a slow program: a day. A longer one has no use and could overflow an
/// `Instant`.
const MAX_PATIENCE: Duration = Duration::from_secs(86_400);
/// How long a child that has closed its output may take to exit.
const EXIT_TIMEOUT: Duration = Duration::from_secs(1);

/// A running program. Dropping it kills the program and all processes that it has started.
pub struct Child {
    command: CommandLine,
    group: ProcessGroup,
    /// Lines for its standard input.
    stdin: Sender<Vec<u8>>,
    stdout: StdoutReader,
    stderr: StderrTail,
    /// When the program was started, until it has said hello for the first time.
    starting: Option<Instant>,
    /// Whether its last hello says that it accepts another greeting.
    reusable: bool,
}

/// A hello, and how long it took.
pub struct Greeted {
    /// What it says.
    pub hello: Hello,
    /// How long it took, from the start of the program if this was its first hello.
    pub waited: Duration,
    /// How much of this the program needed to start.
    pub start_up: Duration,
}

impl Child {
    /// Starts the program.
    pub fn start(command: &CommandLine) -> Result<Self, TargetError> {
        Self::with_pipes(command).map_err(|error| {
            let remedy = if error.kind() == io::ErrorKind::WouldBlock {
                "the system allows no more processes or threads; choose fewer with --threads"
            } else {
                "check that it is installed, and that its path is relative to the audit file's folder"
            };
            let reason = format!("{error}; {remedy}");
            command.fails(ProcessProblem::NotStarted { reason }, String::new())
        })
    }

    fn with_pipes(command: &CommandLine) -> io::Result<Self> {
        let mut program = Command::new(command.program());
        program.args(command.arguments()).current_dir(&command.folder);
        let mut group = ProcessGroup::start(
            program.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()),
        )?;
        let leader = group.leader();
        let pipes = (leader.stdin.take(), leader.stdout.take(), leader.stderr.take());
        let (Some(mut pipe), Some(stdout), Some(stderr)) = pipes else {
            return Err(io::Error::other("it has no pipes"));
        };
        let (stdin, lines) = mpsc::channel::<Vec<u8>>();
        if let Some(source) = command.source() {
            // This cannot fail: the other end, `lines`, is still open.
            let _ = stdin.send(source.into());
        }
        spawn_thread(move || {
            // The error is not used: a child that no longer reads has ended or will exceed the time
            // limit, and its output shows which.
            for line in lines {
                if pipe.write_all(&line).and_then(|()| pipe.flush()).is_err() {
                    break;
                }
            }
        })?;
        let (stdout, stderr) = (StdoutReader::new(stdout)?, StderrTail::new(stderr)?);
        Ok(Self {
            command: command.clone(),
            group,
            stdin,
            stdout,
            stderr,
            starting: Some(Instant::now()),
            reusable: false,
        })
    }

    /// Whether it accepts another greeting.
    pub fn is_reusable(&self) -> bool {
        self.reusable
    }

    /// Sends the parameters and datasets, and reads the hello, which describes the outputs. `first`
    /// is the hello of an earlier child, `trials` how long the child may try out the mechanism
    /// before its hello.
    pub fn greet(
        &mut self,
        greeting: &Greeting,
        first: Option<&Hello>,
        trials: Option<Duration>,
    ) -> Result<Greeted, TargetError> {
        let (starting, asked) = (self.starting.take(), Instant::now());
        let is_first = starting.is_some();
        if !is_first {
            self.check_unrequested()?;
        }
        let read = |stdout: &mut StdoutReader, deadline| Ok(Hello::parse(&stdout.line(deadline)?)?);
        let hello =
            self.exchange(HELLO_TASK, greeting.line(first, trials), Duration::ZERO, read)?;
        self.reusable = hello.reusable;
        let waited = starting.unwrap_or(asked).elapsed();
        // A program that does not say how long it took to start has spent all the time on it.
        let start_up = if is_first {
            hello.start_up.map_or(waited, |start_up| start_up.min(waited))
        } else {
            Duration::ZERO
        };
        Ok(Greeted { hello, waited, start_up })
    }

    /// Requests outputs. Returns exactly as many as requested, or an error. It waits at least as
    /// long as `patience`.
    pub fn ask(
        &mut self,
        request: &Request,
        width: usize,
        patience: Duration,
    ) -> Result<OutputBlock, TargetError> {
        let count = request.count;
        self.check_unrequested()?;
        self.exchange(
            &format!("to answer a request for {}", counted(count, "output")),
            request.line(),
            patience,
            |stdout, deadline| stdout.answer(count, width, deadline),
        )
    }

    /// Sends one line and reads one line.
    pub fn exchange_line(&mut self, task: &str, message: Vec<u8>) -> Result<String, TargetError> {
        self.exchange(task, message, Duration::ZERO, StdoutReader::line)
    }

    /// Fails if the child wrote something without a request.
    fn check_unrequested(&mut self) -> Result<(), TargetError> {
        match self.stdout.unrequested() {
            Some(text) => Err(self.fail(ProcessProblem::Answer {
                reason: format!("it wrote more than it was asked for: {text}"),
            })),
            None => Ok(()),
        }
    }

    /// Sends one message and reads the answer, within the time limit, or within `patience` if that
    /// is longer.
    fn exchange<T>(
        &mut self,
        task: &str,
        message: Vec<u8>,
        patience: Duration,
        read: impl FnOnce(&mut StdoutReader, Instant) -> Result<T, AnswerError>,
    ) -> Result<T, TargetError> {
        let limit = self.command.timeout.max(patience.min(MAX_PATIENCE));
        let deadline = Instant::now() + limit;
        // If the writing thread has ended, the child's output shows why.
        let _ = self.stdin.send(message);
        read(&mut self.stdout, deadline).map_err(|error| {
            let problem = match error {
                AnswerError::Invalid(problem) => problem,
                AnswerError::Timeout => ProcessProblem::Hung {
                    seconds: limit.as_secs_f64().to_string(),
                    task: task.to_owned(),
                },
                AnswerError::Closed => {
                    ProcessProblem::Ended { how: self.how_it_ended(), task: task.to_owned() }
                }
            };
            self.fail(problem)
        })
    }

    /// How the process ended.
    fn how_it_ended(&mut self) -> String {
        let deadline = Instant::now() + EXIT_TIMEOUT;
        while !self.group.has_ended() {
            if Instant::now() >= deadline {
                return "closed its output".to_owned();
            }
            thread::sleep(Duration::from_millis(2));
        }
        self.group
            .kill()
            .map_or_else(|error| format!("ended ({error})"), |status| format!("ended ({status})"))
    }

    /// Kills the child. The error contains the last part of its standard error.
    pub fn fail(&mut self, problem: ProcessProblem) -> TargetError {
        let _ = self.group.kill();
        self.command.fails(problem, self.stderr.text())
    }
}

/// Starts a thread. Unlike `thread::spawn`, it returns an error if the system has no more threads.
fn spawn_thread(work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().spawn(work).map(|_| ())
}

/// Why there is no answer.
#[derive(Debug, PartialEq)]
pub enum AnswerError {
    /// The answer is not valid.
    Invalid(ProcessProblem),
    /// There was no answer within the time limit.
    Timeout,
    /// The pipe is closed.
    Closed,
}

impl From<ProcessProblem> for AnswerError {
    fn from(problem: ProcessProblem) -> Self {
        Self::Invalid(problem)
    }
}

/// Refuses more symbols than the answer has cells: most of them would be names of nothing, and
/// their number has no limit.
fn check_symbols(symbols: usize, cells: usize) -> Result<(), ProcessProblem> {
    if symbols <= cells {
        return Ok(());
    }
    let (symbols, cells) = (grouped(symbols as u64), grouped(cells as u64));
    let reason = format!(
        "it lists {symbols} symbols for {cells} cells; list only those that the answer uses"
    );
    Err(ProcessProblem::Answer { reason })
}

/// The child's standard output, read by a thread.
struct StdoutReader {
    reads: Receiver<Vec<u8>>,
    buffer: Vec<u8>,
    /// How many bytes of the buffer are used up.
    used: usize,
}

impl StdoutReader {
    fn new(mut pipe: impl Read + Send + 'static) -> io::Result<Self> {
        let (sender, reads) = mpsc::sync_channel(MAX_QUEUED_READS);
        spawn_thread(move || {
            loop {
                let mut bytes = vec![0; READ_SIZE];
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
        Ok(Self { reads, buffer: Vec::new(), used: 0 })
    }

    /// The answer to a request for `count` outputs: exactly `count` outputs, or an error.
    fn answer(
        &mut self,
        count: usize,
        width: usize,
        deadline: Instant,
    ) -> Result<OutputBlock, AnswerError> {
        let reply = Reply::parse(&self.line(deadline)?)?;
        let got = reply.count();
        if got != count {
            return Err(ProcessProblem::WrongCount { asked: count, got }.into());
        }
        let block = match reply {
            Reply::Values(values) => OutputBlock::of_values(&values, width),
            Reply::Block { symbols, forms, .. } => {
                check_symbols(symbols.len(), count * width)?;
                let (doubles, _) = self.exactly(count * width * 8, deadline)?.as_chunks::<8>();
                let bits = doubles.iter().map(|bytes| u64::from_le_bytes(*bytes));
                OutputBlock::of_bits(bits, &symbols, width)
                    .and_then(|block| block.with_forms(forms))
            }
        };
        Ok(block.map_err(|reason| ProcessProblem::Answer { reason })?)
    }

    /// The beginning of what the child wrote without a request, if it did.
    fn unrequested(&mut self) -> Option<String> {
        while let Ok(bytes) = self.reads.try_recv() {
            self.buffer.extend(bytes);
        }
        let rest = &self.buffer[self.used..];
        (!rest.is_empty()).then(|| protocol::shortened(&String::from_utf8_lossy(rest)))
    }

    /// Waits for more bytes.
    fn wait(&mut self, deadline: Instant) -> Result<(), AnswerError> {
        let bytes = self
            .reads
            .recv_timeout(deadline.saturating_duration_since(Instant::now()))
            .map_err(|error| match error {
                RecvTimeoutError::Timeout => AnswerError::Timeout,
                RecvTimeoutError::Disconnected => AnswerError::Closed,
            })?;
        self.buffer.drain(..self.used);
        self.used = 0;
        self.buffer.extend(bytes);
        Ok(())
    }

    /// The next line.
    fn line(&mut self, deadline: Instant) -> Result<String, AnswerError> {
        let mut searched = 0;
        loop {
            let rest = &self.buffer[self.used..];
            if let Some(end) = rest[searched..].iter().position(|byte| *byte == b'\n') {
                let line = str::from_utf8(&rest[..searched + end]).map(str::to_owned);
                self.used += searched + end + 1;
                return Ok(line.map_err(|error| ProcessProblem::Answer {
                    reason: format!(
                        "it wrote a line that is not UTF-8 ({error}); write texts in UTF-8, and bytes as hexadecimal digits"
                    ),
                })?);
            }
            searched = rest.len();
            if searched > MAX_LINE_BYTES {
                return Err(ProcessProblem::Answer {
                    reason: format!("it wrote {searched} bytes without an end of line"),
                }
                .into());
            }
            self.wait(deadline)?;
        }
    }

    /// The next `length` bytes.
    fn exactly(&mut self, length: usize, deadline: Instant) -> Result<&[u8], AnswerError> {
        while self.buffer.len() - self.used < length {
            self.wait(deadline)?;
        }
        self.used += length;
        Ok(&self.buffer[self.used - length..self.used])
    }
}

/// The last part of what the child wrote to standard error, read by a thread.
struct StderrTail {
    bytes: Arc<Mutex<VecDeque<u8>>>,
    /// Never receives anything. It is disconnected when the pipe is closed.
    pipe_open: Receiver<()>,
}

impl StderrTail {
    fn new(mut pipe: impl Read + Send + 'static) -> io::Result<Self> {
        let bytes = Arc::new(Mutex::new(VecDeque::new()));
        let (closing, pipe_open) = mpsc::channel::<()>();
        let tail = Arc::clone(&bytes);
        spawn_thread(move || {
            let mut read = [0; 4096];
            while let Ok(length @ 1..) = pipe.read(&mut read) {
                let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
                tail.extend(&read[..length]);
                let excess = tail.len().saturating_sub(STDERR_TAIL_BYTES);
                tail.drain(..excess);
            }
            drop(closing);
        })?;
        Ok(Self { bytes, pipe_open })
    }

    /// The whole text, after the child has ended.
    fn text(&self) -> String {
        // The limit is needed because a process that has left the group may keep the pipe open.
        let _ = self.pipe_open.recv_timeout(EXIT_TIMEOUT);
        let bytes: Vec<u8> =
            self.bytes.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        String::from_utf8_lossy(&bytes).trim().lines().map(printable).collect::<Vec<_>>().join("\n")
    }
}

#[cfg(test)]
mod tests;
