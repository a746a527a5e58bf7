//! Which line each event of a batch stands in: runs of consecutive lines, so that a comment costs an entry, not a line.

/// The lines of the events of one batch.
#[derive(Clone, Default, Debug)]
pub(super) struct LineNumbers {
    /// The index of an event and its line, for the first event and for every one that does not follow its
    /// predecessor on the next line.
    runs: Vec<(usize, u64)>,
}

impl LineNumbers {
    /// A new batch begins; its first event stands in this line unless [`LineNumbers::jump`] says otherwise.
    pub(super) fn restart(&mut self, line: u64) {
        self.runs.clear();
        self.runs.push((0, line));
    }

    /// The event with this index, which has not come yet, stands in this line at the earliest.
    pub(super) fn jump(&mut self, index: usize, line: u64) {
        match self.runs.last_mut() {
            Some(last) if last.0 == index => last.1 = line,
            _ => self.runs.push((index, line)),
        }
    }

    /// The line of an event.
    pub(super) fn line(&self, index: usize) -> Option<u64> {
        let run = self.runs.partition_point(|&(first, _)| first <= index).checked_sub(1)?;
        let (first, line) = self.runs[run];
        Some(line + (index - first) as u64)
    }
}
