//! A child process that is asked by lines and answers by lines, and may hang, die, babble or not listen.

use super::LogicError;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, SyncSender, channel, sync_channel};
use std::time::{Duration, Instant};

/// The longest line that is taken for an answer.
const MAX_LINE: u64 = 1 << 20;

/// Lines that are heard ahead: a child that never stops talking must wait, not fill the memory.
const MAX_AHEAD: usize = 16;

/// How long to hear what a child that ended said on standard error.
const LAST_WORDS: Duration = Duration::from_millis(200);

/// What the child said, in order.
pub(super) enum Said {
    /// A whole line on standard output.
    Out(String),
    /// A line on standard error.
    Err(String),
    /// Something on standard output that is not a line of text, and what is wrong with it.
    Garbage(&'static str),
    /// It closed its standard output.
    Closed,
}

/// A running child.
pub(super) struct Talk {
    program: String,
    child: Child,
    /// `None` when it is not spoken to any more. Written by a thread of its own: a child that does not read would
    /// block the writer for ever.
    to_child: Option<Sender<String>>,
    said: Receiver<Said>,
    patience: Duration,
    /// Why it is not asked any more. An answer that came late would be taken for that of another question.
    broken: Option<LogicError>,
}

impl Talk {
    /// Starts it. With `one_pipe`, what it says on standard error is heard in its place among the rest, as
    /// [`Said::Out`].
    pub(super) fn start(
        mut command: Command,
        one_pipe: bool,
        advice: &'static str,
        patience: Duration,
    ) -> Result<Talk, LogicError> {
        let program = command.get_program().to_string_lossy().into_owned();
        let failed =
            |error: std::io::Error| LogicError::Start { program: program.clone(), reason: error.to_string(), advice };
        command.stdin(Stdio::piped());
        let (sender, said) = sync_channel(MAX_AHEAD);
        let mut child = if one_pipe {
            let (out, into) = std::io::pipe().map_err(failed)?;
            command.stdout(into.try_clone().map_err(failed)?).stderr(into);
            let child = command.spawn().map_err(failed)?;
            std::thread::spawn(move || listen_out(out, &sender));
            child
        } else {
            let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().map_err(failed)?;
            if let Some(out) = child.stdout.take() {
                let sender = sender.clone();
                std::thread::spawn(move || listen_out(out, &sender));
            }
            if let Some(err) = child.stderr.take() {
                std::thread::spawn(move || listen_err(err, &sender));
            }
            child
        };
        // Our own ends of its pipes would keep them open when it ends.
        drop(command);
        let to_child = child.stdin.take().map(|mut stdin| {
            let (to_child, texts) = channel::<String>();
            std::thread::spawn(move || {
                // That the child no longer listens shows when it is asked for its answer.
                for text in texts {
                    if stdin.write_all(text.as_bytes()).and_then(|()| stdin.flush()).is_err() {
                        return;
                    }
                }
            });
            to_child
        });
        Ok(Talk { program, child, to_child, said, patience, broken: None })
    }

    /// Sends text.
    pub(super) fn send(&mut self, text: String) {
        if let Some(to_child) = &self.to_child {
            let _ = to_child.send(text);
        }
    }

    /// Whether it has written something without being asked.
    pub(super) fn unasked(&mut self, question: &str) -> Result<(), LogicError> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        while let Ok(said) = self.said.try_recv() {
            match said {
                Said::Err(_) => {}
                Said::Out(line) => {
                    let error = self.nonsense(question, &format!("{line} (before it was asked)"));
                    return self.fail(error);
                }
                Said::Garbage(what) => {
                    let error = self.nonsense(question, what);
                    return self.fail(error);
                }
                Said::Closed => {
                    let error = self.died(question, String::new());
                    return self.fail(error);
                }
            }
        }
        Ok(())
    }

    /// Hears lines of standard output until `done` takes one. After a failure nothing is heard any more.
    pub(super) fn hear<T>(&mut self, question: &str, mut done: impl FnMut(&str) -> Option<T>) -> Result<T, LogicError> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        let deadline = Instant::now() + self.patience;
        let mut last_words = String::new();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            // A child that babbles has always something ready, and would be heard for ever.
            let said = if left.is_zero() { Err(RecvTimeoutError::Timeout) } else { self.said.recv_timeout(left) };
            let error = match said {
                Ok(Said::Out(line)) => {
                    if let Some(answer) = done(&line) {
                        return Ok(answer);
                    }
                    last_words = format!(": {}", shorten(&line));
                    continue;
                }
                Ok(Said::Err(line)) => {
                    last_words = format!(": {}", shorten(&line));
                    continue;
                }
                Ok(Said::Garbage(what)) => self.nonsense(question, what),
                Ok(Said::Closed) | Err(RecvTimeoutError::Disconnected) => self.died(question, last_words),
                Err(RecvTimeoutError::Timeout) => LogicError::Hangs {
                    program: self.program.clone(),
                    question: shorten(question),
                    waited: self.patience,
                },
            };
            return self.fail(error);
        }
    }

    /// Ends the talk, and the child.
    fn fail<T>(&mut self, error: LogicError) -> Result<T, LogicError> {
        self.end();
        self.broken = Some(error.clone());
        Err(error)
    }

    fn end(&mut self) {
        self.to_child = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// That it ended, with what is still to be heard from it.
    fn died(&mut self, question: &str, mut last_words: String) -> LogicError {
        let deadline = Instant::now() + LAST_WORDS;
        while let Ok(said) = self.said.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            if let Said::Err(line) = said {
                last_words = format!(": {}", shorten(&line));
            }
            if Instant::now() >= deadline {
                break;
            }
        }
        LogicError::Died { program: self.program.clone(), question: shorten(question), last_words }
    }

    pub(super) fn nonsense(&self, question: &str, answer: &str) -> LogicError {
        let (program, question, answer) = (self.program.clone(), shorten(question), shorten(answer));
        LogicError::Nonsense { program, question, answer }
    }
}

impl Drop for Talk {
    fn drop(&mut self) {
        // Whatever the child is doing, it must not outlive us.
        self.end();
    }
}

fn listen_out(from: impl Read, to: &SyncSender<Said>) {
    let mut from = BufReader::new(from);
    loop {
        let mut line = Vec::new();
        let said = match from.by_ref().take(MAX_LINE).read_until(b'\n', &mut line) {
            // A line that breaks off may be half an answer.
            Ok(_) if line.last() != Some(&b'\n') && (line.len() as u64) < MAX_LINE => Said::Closed,
            Err(_) => Said::Closed,
            Ok(_) if line.last() != Some(&b'\n') => Said::Garbage("a line that does not end"),
            Ok(_) => {
                line.pop();
                line.pop_if(|last| *last == b'\r');
                // Two states that differ only in what is not text must not become one.
                String::from_utf8(line).map_or(Said::Garbage("bytes that are not text"), Said::Out)
            }
        };
        let over = !matches!(said, Said::Out(_));
        if to.send(said).is_err() || over {
            return;
        }
    }
}

fn listen_err(from: impl Read, to: &SyncSender<Said>) {
    let mut from = BufReader::new(from);
    loop {
        let mut line = Vec::new();
        match from.by_ref().take(MAX_LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {
                let line = String::from_utf8_lossy(&line).trim_end().to_owned();
                if !line.is_empty() && to.send(Said::Err(line)).is_err() {
                    return;
                }
            }
        }
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
