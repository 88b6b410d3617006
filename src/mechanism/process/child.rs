//! One child process: its pipes, its time limit, its last words, its end.
//!
//! Three threads stand at the pipes, so that no step waits longer than the time limit, whatever the child reads, writes or leaves undone.

use std::collections::VecDeque;
use std::io::{Read, Write};
use std::process::{self, Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::CommandLine;
use super::protocol::{self, Answer, Greeting, Hello, Request};
use crate::cell::Rows;
use crate::error::{Problem, TargetError};

/// Bytes read at once.
const READ: usize = 1 << 16;
/// Reads that may wait to be looked at; a child that writes without being asked is held up by then.
const WAITING: usize = 4;
/// A longer line is not a message.
const MOST_LINE: usize = 1 << 26;
/// So much of what was last written to standard error is shown.
const LAST_WORDS: usize = 2000;
/// How long a child that has closed its output may take to end.
const GRACE: Duration = Duration::from_secs(1);

/// A running program. Dropping it ends it.
pub struct Child {
    command: CommandLine,
    process: process::Child,
    /// Lines for its standard input.
    input: Sender<Vec<u8>>,
    output: Output,
    errors: LastWords,
}

impl Child {
    /// Starts the program.
    pub fn start(command: &CommandLine) -> Result<Self, TargetError> {
        let started = Command::new(command.program())
            .args(&command.words[1..])
            .current_dir(&command.folder)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let not_started = |reason: String| command.fails(Problem::NotStarted { reason }, String::new());
        let mut process = started.map_err(|error| not_started(error.to_string()))?;
        let pipes = (process.stdin.take(), process.stdout.take(), process.stderr.take());
        let (Some(mut stdin), Some(stdout), Some(stderr)) = pipes else { return Err(not_started("it has no pipes".to_owned())) };
        let (input, lines) = mpsc::channel::<Vec<u8>>();
        thread::spawn(move || {
            // A child that no longer reads has ended or will run out of time: its output tells.
            for line in lines {
                if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
                    break;
                }
            }
        });
        Ok(Self { command: command.clone(), process, input, output: Output::new(stdout), errors: LastWords::of(stderr) })
    }

    /// Sends what does not change, and hears what the outputs look like.
    pub fn greet(&mut self, greeting: &Greeting) -> Result<Hello, TargetError> {
        self.talk("to say hello", greeting.line(), |output, deadline| Ok(Hello::parse(&output.line(deadline)?)?))
    }

    /// Asks for outputs: exactly as many as asked for, or an error.
    pub fn ask(&mut self, request: &Request, width: usize) -> Result<Rows, TargetError> {
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
        loop {
            match self.process.try_wait() {
                Ok(Some(status)) => return format!("ended ({status})"),
                Ok(None) if Instant::now() < limit => thread::sleep(Duration::from_millis(2)),
                _ => return "closed its output".to_owned(),
            }
        }
    }

    /// Ends the child; the error has what it last wrote to standard error.
    pub fn fail(&mut self, problem: Problem) -> TargetError {
        self.kill();
        self.command.fails(problem, self.errors.text())
    }

    fn kill(&mut self) {
        // Fails only if the process has ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Drop for Child {
    fn drop(&mut self) {
        self.kill();
    }
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
    fn new(mut pipe: impl Read + Send + 'static) -> Self {
        let (sender, reads) = mpsc::sync_channel(WAITING);
        thread::spawn(move || {
            loop {
                let mut bytes = vec![0; READ];
                match pipe.read(&mut bytes) {
                    Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                    Ok(0) | Err(_) => break,
                    Ok(length) => {
                        bytes.truncate(length);
                        if sender.send(bytes).is_err() {
                            break;
                        }
                    }
                }
            }
        });
        Self { reads, buffer: Vec::new(), taken: 0 }
    }

    /// The answer to a request for `count` outputs: exactly as many, or trouble.
    fn rows(&mut self, count: usize, width: usize, deadline: Instant) -> Result<Rows, Trouble> {
        let answer = Answer::parse(&self.line(deadline)?)?;
        let got = answer.count();
        if got != count {
            return Err(Problem::WrongCount { asked: count, got }.into());
        }
        Ok(match answer {
            Answer::Values(values) => protocol::rows_of_values(&values, width)?,
            Answer::Block { symbols, .. } => protocol::rows_of_block(self.exactly(count * width * 8, deadline)?, &symbols, width)?,
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
struct LastWords {
    bytes: Arc<Mutex<VecDeque<u8>>>,
    /// Never sends; it is gone when the pipe is closed.
    open: Receiver<()>,
}

impl LastWords {
    fn of(mut pipe: impl Read + Send + 'static) -> Self {
        let bytes = Arc::new(Mutex::new(VecDeque::new()));
        let (closing, open) = mpsc::channel::<()>();
        let words = Arc::clone(&bytes);
        thread::spawn(move || {
            let mut read = [0; 4096];
            while let Ok(length @ 1..) = pipe.read(&mut read) {
                let mut words = words.lock().unwrap_or_else(PoisonError::into_inner);
                words.extend(&read[..length]);
                let excess = words.len().saturating_sub(LAST_WORDS);
                words.drain(..excess);
            }
            drop(closing);
        });
        Self { bytes, open }
    }

    /// All of it, once the child has ended.
    fn text(&self) -> String {
        // A child of the child may keep the pipe open.
        let _ = self.open.recv_timeout(GRACE);
        let bytes: Vec<u8> = self.bytes.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        String::from_utf8_lossy(&bytes).trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::FileFailurePersistence;
    use serde_json::{Value, json};

    use super::*;
    use crate::cell::{Cell, MOST_WIDTH};

    /// A pipe that hands over its bytes in pieces of this size.
    struct Pieces(Vec<u8>, usize);

    impl Read for Pieces {
        fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
            let piece: Vec<u8> = self.0.drain(..self.1.min(self.0.len())).collect();
            into[..piece.len()].copy_from_slice(&piece);
            Ok(piece.len())
        }
    }

    fn rows(bytes: &[u8], piece: usize, count: usize, width: usize) -> Result<Rows, Trouble> {
        Output::new(Pieces(bytes.to_vec(), piece)).rows(count, width, Instant::now() + Duration::from_secs(60))
    }

    /// A cell as a child has it. A NaN may have any bits but those of a symbol.
    #[derive(Clone, Debug)]
    enum Sent {
        Number(f64),
        Name(String),
    }

    impl Sent {
        fn cell(&self) -> Cell {
            match self {
                Self::Number(number) => Cell::number(*number),
                Self::Name(name) => Cell::symbol(name),
            }
        }
    }

    fn sent() -> impl Strategy<Value = Sent> {
        let bits = prop_oneof![any::<u64>(), (any::<u64>()).prop_map(|bits| bits | (0x7ff << 52)), Just(f64::INFINITY.to_bits())];
        prop_oneof![
            bits.prop_filter("no symbol", |bits| bits >> 48 != 0x7ffd).prop_map(|bits| Sent::Number(f64::from_bits(bits))),
            "[a-c⊥\"\\\\\n\u{0}]{0,3}".prop_map(Sent::Name),
        ]
    }

    #[derive(Clone, Debug)]
    struct Sending {
        width: usize,
        outputs: Vec<Vec<Sent>>,
        block: bool,
    }

    fn sending() -> impl Strategy<Value = Sending> {
        (1..4_usize, 0..5_usize, any::<bool>()).prop_flat_map(|(width, count, block)| {
            let outputs = prop::collection::vec(prop::collection::vec(sent(), width), count);
            outputs.prop_map(move |outputs| Sending { width, outputs, block })
        })
    }

    impl Sending {
        fn bytes(&self) -> Vec<u8> {
            if self.block {
                let mut names: Vec<&str> = Vec::new();
                let mut numbers = Vec::new();
                for sent in self.outputs.iter().flatten() {
                    let bits = match sent {
                        Sent::Number(number) => number.to_bits(),
                        Sent::Name(name) => {
                            names.push(name);
                            (0x7ffd << 48) | (names.len() as u64 - 1)
                        }
                    };
                    numbers.extend(bits.to_le_bytes());
                }
                let line = format!("{}\n", json!({ "count": self.outputs.len(), "symbols": names }));
                return [line.into_bytes(), numbers].concat();
            }
            let value = |sent: &Sent| match sent {
                Sent::Number(number) if number.is_finite() => json!(number),
                Sent::Number(number) => json!(number.to_string()),
                Sent::Name(name) => json!(name),
            };
            let outputs: Vec<Vec<Value>> = self.outputs.iter().map(|output| output.iter().map(value).collect()).collect();
            format!("{}\n", json!(outputs)).into_bytes()
        }
    }

    /// JSON with the keys of the protocol.
    fn value() -> impl Strategy<Value = Value> {
        let keys = ["dp_audit", "width", "seeded", "count", "symbols", "error", "x"];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            (-2..4_i64).prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "[a-c⊥]{0,3}|-?inf|NaN".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, move |inner| {
            let key = prop::sample::select(keys.to_vec()).prop_map(str::to_owned);
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(key, inner, 0..4).prop_map(|map| map.into_iter().collect()),
            ]
        })
    }

    /// Exactly the rows that were asked for, or trouble.
    fn right_or_refused(bytes: &[u8], count: usize, width: usize) -> Result<(), TestCaseError> {
        if let Ok(rows) = rows(bytes, 1 << 16, count, width) {
            prop_assert_eq!((rows.len(), rows.width()), (count, width));
        }
        Ok(())
    }

    /// A hello that is accepted has exactly the documented keys and values.
    fn hello_is_right_or_refused(text: &str) -> Result<(), TestCaseError> {
        if let Ok(Hello { width, seeded }) = Hello::parse(text) {
            prop_assert_eq!(serde_json::from_str::<Value>(text).unwrap(), json!({ "dp_audit": 1, "width": width, "seeded": seeded }));
            prop_assert!((1..=MOST_WIDTH).contains(&width));
        }
        Ok(())
    }

    /// Bytes replaced, put in or taken out.
    fn changed(mut bytes: Vec<u8>, changes: &[(prop::sample::Index, usize, Vec<u8>)]) -> Vec<u8> {
        for (at, cut, put) in changes {
            let at = at.index(bytes.len() + 1);
            bytes.splice(at..(at + cut).min(bytes.len()), put.iter().copied());
        }
        bytes
    }

    fn changes() -> impl Strategy<Value = Vec<(prop::sample::Index, usize, Vec<u8>)>> {
        let put = prop_oneof![prop::collection::vec(any::<u8>(), 0..4), "[\\[\\]{}\",:0-9e.-]{0,3}".prop_map(String::into_bytes)];
        prop::collection::vec((any::<prop::sample::Index>(), 0..3_usize, put), 1..4)
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            cases: 512,
            failure_persistence: Some(Box::new(FileFailurePersistence::Direct("tests/regressions/protocol.txt"))),
            ..ProptestConfig::default()
        })]

        #[test]
        fn outputs_arrive_as_they_were_sent_in_pieces_of_any_size(sending in sending(), piece in 1..40_usize) {
            let expected: Vec<Vec<Cell>> = sending.outputs.iter().map(|output| output.iter().map(Sent::cell).collect()).collect();
            let rows = rows(&sending.bytes(), piece, sending.outputs.len(), sending.width).unwrap();
            prop_assert_eq!(rows.iter().map(<[Cell]>::to_vec).collect::<Vec<_>>(), expected);
        }

        #[test]
        fn a_part_of_an_answer_is_no_answer(sending in sending(), end in any::<prop::sample::Index>()) {
            let bytes = sending.bytes();
            let found = rows(&bytes[..end.index(bytes.len())], 1 << 16, sending.outputs.len(), sending.width);
            prop_assert_eq!(found.err(), Some(Trouble::End));
        }

        #[test]
        fn another_count_is_refused(sending in sending(), asked in 0..6_usize) {
            let got = sending.outputs.len();
            prop_assume!(asked != got);
            let found = rows(&sending.bytes(), 1 << 16, asked, sending.width);
            prop_assert_eq!(found.err(), Some(Trouble::Problem(Problem::WrongCount { asked, got })));
        }

        #[test]
        fn a_changed_answer_is_right_or_refused(sending in sending(), changes in changes()) {
            right_or_refused(&changed(sending.bytes(), &changes), sending.outputs.len(), sending.width)?;
        }

        #[test]
        fn any_bytes_are_right_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..80), count in 0..4_usize, width in 1..4_usize) {
            right_or_refused(&[&bytes[..], b"\n"].concat(), count, width)?;
        }

        #[test]
        fn any_json_is_right_or_refused(value in value(), rest in prop::collection::vec(any::<u8>(), 0..40), count in 0..4_usize, width in 1..4_usize) {
            right_or_refused(&[format!("{value}\n").as_bytes(), &rest].concat(), count, width)?;
            hello_is_right_or_refused(&value.to_string())?;
        }

        #[test]
        fn a_changed_hello_is_right_or_refused(width in 0..70_000_usize, seeded in any::<bool>(), changes in changes()) {
            let hello = json!({ "dp_audit": 1, "width": width, "seeded": seeded }).to_string();
            hello_is_right_or_refused(&hello)?;
            hello_is_right_or_refused(&String::from_utf8_lossy(&changed(hello.into_bytes(), &changes)))?;
        }
    }

    #[test]
    fn ten_thousand_symbols_of_one_block_arrive() {
        let outputs: Vec<Vec<Sent>> = (0..10_000).rev().map(|index| vec![Sent::Name(format!("symbol {index}"))]).collect();
        let sending = Sending { width: 1, outputs, block: true };
        let rows = rows(&sending.bytes(), 1 << 16, 10_000, 1).unwrap();
        assert!(rows.iter().zip(&sending.outputs).all(|(row, output)| row[0] == output[0].cell()));
    }
}
