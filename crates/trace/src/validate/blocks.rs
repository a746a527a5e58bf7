//! Which blocks each thread is in.

use event::{BlockId, Names, Space, ThreadId};

/// Blocks nested deeper than this in one thread are counted, and no longer distinguished: a hostile trace must not make
/// every end search a long stack.
const MAX_DEPTH: usize = 1 << 10;

#[derive(Clone, Default)]
struct Open {
    blocks: Vec<BlockId>,
    deeper: u64,
}

#[derive(Default)]
pub(super) struct Blocks {
    threads: Vec<Open>,
}

impl Blocks {
    pub(super) fn grow(&mut self, names: &Names) {
        self.threads.resize_with(names.space(Space::Thread).len(), Open::default);
    }

    pub(super) fn begin(&mut self, thread: ThreadId, block: BlockId) {
        let open = &mut self.threads[thread.0 as usize];
        if open.blocks.len() < MAX_DEPTH {
            open.blocks.push(block);
        } else {
            open.deeper += 1;
        }
    }

    /// A nameless end closes the innermost block, whatever its name.
    pub(super) fn end(&mut self, names: &Names, thread: ThreadId, block: BlockId) -> Option<String> {
        let Open { blocks: open, deeper } = &mut self.threads[thread.0 as usize];
        if *deeper > 0 {
            *deeper -= 1;
            return None;
        }
        let t = names.thread(thread);
        let Some(&innermost) = open.last() else {
            return Some(format!("{t} ends block {} without having begun it", shown(names, block)));
        };
        if innermost == block || block == BlockId(0) {
            open.pop();
            return None;
        }
        match open.iter().rposition(|&b| b == block) {
            Some(at) => {
                open.truncate(at);
                let (outer, inner) = (shown(names, block), shown(names, innermost));
                Some(format!("{t} ends block {outer} while block {inner} inside it is open"))
            }
            None => Some(format!("{t} ends block {} without having begun it", shown(names, block))),
        }
    }
}

fn shown(names: &Names, block: BlockId) -> &str {
    match names.block(block) {
        "" => "without a name",
        name => name,
    }
}
