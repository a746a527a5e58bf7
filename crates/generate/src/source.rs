//! The generator as a source of events.

use crate::machine::Machine;
use crate::{Options, OptionsError};
use event::{Batch, Meta, Names};
use trace::{Error, InputPosition, Loss, Source};

/// Events per batch: enough to hide the cost of a batch, few enough to stay in the cache.
const BATCH: usize = 8192;

/// Makes a trace, batch by batch. The batches do not depend on who asks for them, or when.
#[derive(Clone, Debug)]
pub struct Generator {
    machine: Machine,
    meta: Meta,
}

impl Generator {
    /// A generator at the beginning of its trace.
    pub fn new(options: Options) -> Result<Generator, OptionsError> {
        options.check()?;
        Ok(Generator { machine: Machine::new(options), meta: Meta::default() })
    }
}

impl Source for Generator {
    fn next_batch(&mut self, batch: &mut Batch) -> Result<bool, Error> {
        let out = &mut self.machine.out;
        // Initial values already stand in the machine's own batch before the first event.
        let inits = std::mem::take(&mut out.batch.inits);
        batch.clear(out.count);
        batch.inits.extend(inits);
        std::mem::swap(&mut out.batch, batch);
        self.machine.advance(BATCH);
        std::mem::swap(&mut self.machine.out.batch, batch);
        Ok(!batch.is_empty())
    }

    fn names(&self) -> &Names {
        &self.machine.out.names
    }

    fn meta(&self) -> &Meta {
        &self.meta
    }

    fn losses(&self) -> &[Loss] {
        &[]
    }

    fn place(&self, _index: usize) -> Option<InputPosition> {
        None
    }

    fn consumed(&self) -> u64 {
        0
    }
}
