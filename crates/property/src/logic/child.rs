//! A child process that is asked by lines and answers by lines, and may hang or die.

use super::LogicError;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

/// How long an answer may take.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// The longest line that is taken for an answer.
const MAX_LINE: u64 = 1 << 20;

/// What the child said, in order.
pub(super) enum Said {
    /// A line on standard output.
    Out(String),
    /// A line on standard error.
    Err(String),
    /// It closed its standard output.
    Closed,
}

/// A running child.
pub(super) struct Talk {
    pub(super) program: String,
    child: Child,
    stdin: Option<ChildStdin>,
    said: Receiver<Said>,
    pub(super) patience: Duration,
}

impl Talk {
    /// Starts it. With `one_pipe`, what it says on standard error is heard in its place among the rest, as
    /// [`Said::Out`].
    pub(super) fn start(mut command: Command, one_pipe: bool, advice: &'static str) -> Result<Talk, LogicError> {
        let program = command.get_program().to_string_lossy().into_owned();
        let failed =
            |error: std::io::Error| LogicError::Start { program: program.clone(), reason: error.to_string(), advice };
        command.stdin(Stdio::piped());
        let (sender, said) = channel();
        let mut child = if one_pipe {
            let (out, into) = std::io::pipe().map_err(failed)?;
            command.stdout(into.try_clone().map_err(failed)?).stderr(into);
            let child = command.spawn().map_err(failed)?;
            std::thread::spawn(move || listen(out, &sender, Said::Out, true));
            child
        } else {
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(failed)?;
            if let Some(out) = child.stdout.take() {
                let sender = sender.clone();
                std::thread::spawn(move || listen(out, &sender, Said::Out, true));
            }
            if let Some(err) = child.stderr.take() {
                std::thread::spawn(move || listen(err, &sender, Said::Err, false));
            }
            child
        };
        // Our own ends of its pipes would keep them open when it ends.
        drop(command);
        let stdin = child.stdin.take();
        Ok(Talk { program, child, stdin, said, patience: PATIENCE })
    }

    /// Sends text. That the child no longer listens shows when it is asked for its answer.
    pub(super) fn send(&mut self, text: &str) {
        if let Some(stdin) = &mut self.stdin {
            let _ = stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush());
        }
    }

    /// Hears lines until `done` takes one. What was said on standard error before it comes with a failure.
    pub(super) fn hear<T>(
        &mut self,
        question: &str,
        mut done: impl FnMut(&Said) -> Option<T>,
    ) -> Result<T, LogicError> {
        let deadline = Instant::now() + self.patience;
        let mut last_words = String::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let said = self.said.recv_timeout(left);
            match said {
                Ok(Said::Closed) | Err(RecvTimeoutError::Disconnected) => {
                    self.collect_last_words(&mut last_words);
                    let (program, question) = (self.program.clone(), shorten(question));
                    return Err(LogicError::Died { program, question, last_words });
                }
                Err(RecvTimeoutError::Timeout) => {
                    let _ = self.child.kill();
                    let (program, question) = (self.program.clone(), shorten(question));
                    return Err(LogicError::Hangs { program, question, seconds: self.patience.as_secs() });
                }
                Ok(said) => {
                    if let Some(answer) = done(&said) {
                        return Ok(answer);
                    }
                    if let Said::Err(line) | Said::Out(line) = said {
                        last_words = format!(": {}", shorten(&line));
                    }
                }
            }
        }
    }

    /// What is still to be heard from a child that ended.
    fn collect_last_words(&mut self, last_words: &mut String) {
        while let Ok(said) = self.said.recv_timeout(Duration::from_millis(200)) {
            if let Said::Err(line) = said {
                *last_words = format!(": {}", shorten(&line));
            }
        }
    }

    pub(super) fn nonsense(&self, question: &str, answer: &str) -> LogicError {
        let (program, question, answer) = (self.program.clone(), shorten(question), shorten(answer));
        LogicError::Nonsense { program, question, answer }
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        // Closing its input lets a well-behaved child end; one that does not must not outlive us.
        self.stdin = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn listen(from: impl Read, to: &Sender<Said>, say: fn(String) -> Said, closes: bool) {
    let mut from = BufReader::new(from);
    loop {
        let mut line = Vec::new();
        match from.by_ref().take(MAX_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => break,
            Ok(_) => {
                let line = String::from_utf8_lossy(&line).trim_end().to_owned();
                if to.send(say(line)).is_err() {
                    return;
                }
            }
        }
    }
    if closes {
        let _ = to.send(Said::Closed);
    }
}

/// A text short enough for a message.
pub(super) fn shorten(text: &str) -> String {
    const LONGEST: usize = 200;
    let text = text.trim();
    match text.char_indices().nth(LONGEST) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}
