//! The blocks that a thread is in.

use event::BlockId;

/// Blocks nested deeper than this are counted, and no longer distinguished.
const MAX_DEPTH: usize = 1 << 10;

/// The blocks that a thread is in.
#[derive(Clone, Default, Debug)]
pub(super) struct Blocks {
    open: Vec<BlockId>,
    deeper: u64,
}

impl Blocks {
    pub(super) fn begin(&mut self, block: BlockId) {
        if self.open.len() < MAX_DEPTH {
            self.open.push(block);
        } else {
            self.deeper += 1;
        }
    }

    /// A nameless end closes the innermost block; another one those inside its own, too, or nothing if it has none.
    pub(super) fn end(&mut self, block: BlockId) {
        if self.deeper > 0 {
            self.deeper -= 1;
        } else if block == BlockId(0) {
            self.open.pop();
        } else if let Some(at) = self.open.iter().rposition(|&open| open == block) {
            self.open.truncate(at);
        }
    }

    /// How many are open.
    pub(super) fn depth(&self) -> u64 {
        self.open.len() as u64 + self.deeper
    }
}
