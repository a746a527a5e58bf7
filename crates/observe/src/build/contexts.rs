//! Resolves call contexts to sites and call stacks, when an event first uses them.

use crate::naming::{Naming, Object};
use event::{Meta, Names, Op, SiteId, Space, StackId, StrId};
use rustc_hash::FxHashMap;
use std::time::{Duration, Instant};
use trace::binary::Action;

/// No stack is deeper than this.
const MAX_DEPTH: usize = 1 << 12;

/// A call context of a slot.
#[derive(Clone, Copy)]
pub(crate) struct Context {
    pc: u64,
    caller: u32,
    known: bool,
    pub(crate) site: SiteId,
    pub(crate) stack: StackId,
    /// The last two operations here: their codes, and their actions.
    ops: [u8; 2],
    actions: [Action; 2],
}

/// The code of no operation.
const NO_OP: u8 = u8::MAX;

const EMPTY: Context = Context {
    pc: 0,
    caller: 0,
    known: true,
    site: SiteId(0),
    stack: StackId(0),
    ops: [NO_OP; 2],
    actions: [Action::NONE; 2],
};

impl Context {
    /// The action of an operation here, if it is known. Most contexts have one; some have accesses and drop barriers.
    #[inline]
    pub(crate) fn action(&self, op: Op) -> Option<&Action> {
        match op as u8 {
            op if op == self.ops[0] => Some(&self.actions[0]),
            op if op == self.ops[1] => Some(&self.actions[1]),
            _ => None,
        }
    }

    /// Remembers the action of an operation here.
    pub(crate) fn learn(&mut self, op: Op, action: Action) {
        self.ops = [op as u8, self.ops[0]];
        self.actions = [action, self.actions[0]];
    }
}

/// The call contexts of a slot.
pub(crate) struct Contexts {
    contexts: Vec<Context>,
    /// Java: contexts below this number are the sites of these numbers, without calls. 0: records define all contexts.
    bare_sites: u32,
    /// Where each of these is stored from its first use on; 0: it was not used yet.
    at: Vec<u32>,
    /// Where contexts from that number on are stored, which the naming defines.
    above: FxHashMap<u32, u32>,
}

impl Default for Contexts {
    fn default() -> Self {
        Contexts::new(0)
    }
}

impl Contexts {
    /// The contexts of a new slot. Numbers below `bare_sites` are those of sites.
    pub(crate) fn new(bare_sites: u32) -> Contexts {
        Contexts { contexts: vec![EMPTY], bare_sites, at: Vec::new(), above: FxHashMap::default() }
    }

    /// Defines a context. Returns whether it can be one: they are numbered in order.
    pub(crate) fn define(&mut self, number: u32, caller: u32, pc: u64) -> bool {
        let index = number as usize;
        if index == 0 || index > self.contexts.len() || caller as usize >= self.contexts.len() {
            return false;
        }
        // At the end of a recording the same definition may come twice.
        if self.contexts.get(index).is_some_and(|known| known.pc == pc && known.caller == caller) {
            return true;
        }
        let context = Context { pc, caller, known: false, ..EMPTY };
        if index == self.contexts.len() {
            self.contexts.push(context);
        } else {
            self.contexts[index] = context;
        }
        true
    }

    /// Where a context is stored, if it was used or defined.
    #[inline]
    fn index(&self, number: u32) -> Option<usize> {
        if self.bare_sites == 0 || number == 0 {
            return Some(number as usize);
        }
        if number >= self.bare_sites {
            return self.above.get(&number).map(|&at| at as usize);
        }
        self.at.get(number as usize).filter(|&&at| at != 0).map(|&at| at as usize)
    }

    /// A context that has its names already.
    #[inline]
    pub(crate) fn known(&mut self, number: u32) -> Option<&mut Context> {
        let index = self.index(number)?;
        self.contexts.get_mut(index).filter(|context| context.known)
    }

    /// The return address at the top of a context.
    pub(crate) fn pc(&self, number: u32) -> u64 {
        self.index(number).and_then(|index| self.contexts.get(index)).map_or(0, |context| context.pc)
    }

    /// The action of an operation in a context, if it is known.
    #[inline]
    pub(crate) fn action(&self, number: u32, op: Op) -> Option<&Action> {
        self.contexts.get(self.index(number)?)?.action(op)
    }

    /// A context with its names; the empty one if there is no such context.
    pub(crate) fn get(&mut self, number: u32, sites: &mut Sites, names: &mut Names, meta: &mut Meta) -> &mut Context {
        let index = self.index(number).unwrap_or_else(|| self.insert(number, sites));
        let number = if index < self.contexts.len() { index } else { 0 };
        if !self.contexts[number].known {
            self.resolve(number, sites, names, meta);
        }
        &mut self.contexts[number]
    }

    /// Stores a context that needs no definition by a record, at its first use.
    #[cold]
    fn insert(&mut self, number: u32, sites: &mut Sites) -> usize {
        if number < self.bare_sites {
            self.at.resize(self.at.len().max(number as usize + 1), 0);
            self.at[number as usize] = self.contexts.len() as u32;
            self.contexts.push(Context { pc: number.into(), known: false, ..EMPTY });
            return self.contexts.len() - 1;
        }
        // Its callers come first.
        let (mut chain, mut next) = (Vec::new(), number);
        while next >= self.bare_sites && !self.above.contains_key(&next) && chain.len() < MAX_DEPTH {
            let Some((caller, pc)) = sites.naming.context(next) else { break };
            chain.push((next, pc));
            next = caller;
        }
        let mut caller = self.above.get(&next).copied().unwrap_or(0);
        for (number, pc) in chain.into_iter().rev() {
            self.above.insert(number, self.contexts.len() as u32);
            self.contexts.push(Context { pc, caller, known: false, ..EMPTY });
            caller = self.contexts.len() as u32 - 1;
        }
        caller as usize
    }

    fn resolve(&mut self, number: usize, sites: &mut Sites, names: &mut Names, meta: &mut Meta) {
        let mut chain = vec![number];
        let mut at = self.contexts[number].caller as usize;
        while !self.contexts[at].known && chain.len() < MAX_DEPTH {
            chain.push(at);
            at = self.contexts[at].caller as usize;
        }
        let mut stack = self.contexts[at].stack;
        for index in chain.into_iter().rev() {
            let context = &mut self.contexts[index];
            (context.site, stack) = sites.call(context.pc, stack, names, meta);
            context.stack = stack;
            context.known = true;
        }
    }
}

/// Addresses of code to sites, for all slots of a process.
pub(crate) struct Sites {
    pub(crate) naming: Box<dyn Naming>,
    /// By address: the sites of its calls, innermost first.
    frames: FxHashMap<u64, Box<[SiteId]>>,
    stacks: FxHashMap<(SiteId, StackId), StackId>,
    /// The process, whose memory map is looked at when an address is in no file that we know.
    pid: u32,
    looked: Option<Instant>,
}

/// The memory map is not looked at more often than this.
const LOOK_EVERY: Duration = Duration::from_millis(50);

impl Sites {
    pub(crate) fn new(naming: Box<dyn Naming>, pid: u32) -> Sites {
        Sites { naming, frames: FxHashMap::default(), stacks: FxHashMap::default(), pid, looked: None }
    }

    /// The variable that covers these bytes.
    pub(crate) fn object(&mut self, address: u64, size: u64) -> Option<Object> {
        self.naming.object(address, size)
    }

    /// Reads the memory map again, for code that is in no known file: a library was loaded unseen.
    fn look_again(&mut self, pc: u64) {
        if self.naming.knows(pc) || self.looked.is_some_and(|last| last.elapsed() < LOOK_EVERY) {
            return;
        }
        self.looked = Some(Instant::now());
        if let Ok(text) = std::fs::read(format!("/proc/{}/maps", self.pid)) {
            self.naming.maps(&text);
        }
    }

    /// The site of a return address, and the stack with its calls on top.
    fn call(&mut self, pc: u64, caller: StackId, names: &mut Names, meta: &mut Meta) -> (SiteId, StackId) {
        if !self.frames.contains_key(&pc) {
            self.look_again(pc);
        }
        let naming = &mut self.naming;
        let frames = self.frames.entry(pc).or_insert_with(|| {
            let site = |frame: crate::Frame| {
                let known = names.space(Space::Site).len();
                let site = SiteId(names.add(Space::Site, &frame.site).unwrap_or(0));
                // Code that is in several files (of a header) belongs to the first.
                if site.0 as usize == known
                    && let Some(library) = frame.library
                    && meta.libraries.len() < MAX_STACKS
                    && let Ok(library) = names.add(Space::Str, &library)
                {
                    meta.libraries.push((site, StrId(library)));
                }
                site
            };
            naming.frames(pc).into_iter().map(site).collect()
        });
        let mut stack = caller;
        for &site in frames.iter().rev() {
            // Without room for more stacks, the one below says at least something.
            stack = *self.stacks.entry((site, stack)).or_insert_with(|| {
                if meta.stacks.len() < MAX_STACKS { meta.stacks.push(site, stack) } else { None }.unwrap_or(stack)
            });
        }
        (frames.first().copied().unwrap_or_default(), stack)
    }
}

/// As many as a reader takes.
const MAX_STACKS: usize = trace::limits::MAX_STACKS;
