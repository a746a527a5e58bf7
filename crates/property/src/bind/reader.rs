//! What the events of a trace do in the words of a specification, in whatever order they come.
//!
//! How deep a thread is in a region and which event is its first depend on that thread's own events alone; so what an
//! event does is the same on every path that keeps the order of each thread.

use super::filter::EventFilter;
use super::matching::EventView;
use super::subject::{Objects, Subject};
use super::values::{HeldValue, Key, Values};
use super::{Bindings, BoundNames};
use crate::check::{Const, Property, Spec, VariableKind};
use crate::syntax::ast::Type;
use event::{Batch, Event, Names, Op, Space, StrId, ThreadId, Value, VarId};
use std::collections::HashMap;
use std::sync::Arc;

/// What one event does.
#[derive(Default, Debug)]
pub(crate) struct EventEffect {
    /// Variables that hold something new.
    pub(crate) written: Vec<(Key, HeldValue)>,
    /// Variables that hold their initial value again: their memory was given or taken back.
    pub(crate) forgotten: Vec<Key>,
    /// Objects whose memory was taken back: what comes under their names later are others.
    pub(crate) gone: Vec<Subject>,
    /// Regions that are entered or left, outermost.
    pub(crate) crossed: Vec<u32>,
    /// The arguments of an internal event.
    pub(crate) args: Vec<Option<Subject>>,
    /// It is the first of its thread; known only if some property asks.
    pub(crate) first: bool,
}

/// Reads events for a specification.
pub(crate) struct Reader {
    pub(crate) spec: Arc<Spec>,
    pub(crate) bindings: Arc<Bindings>,
    pub(crate) objects: Objects,
    /// Initial values, until effects are applied to them.
    pub(crate) values: Values,
    filter: EventFilter,
    /// How many variables of the trace have got the initial values that were given for them.
    taken: usize,
    /// How deep each thread is in each region.
    depth: HashMap<(u32, ThreadId), u32>,
    /// By thread: whether it has acted.
    acted: Vec<bool>,
    /// The event asked about last is the first of its thread.
    first: bool,
    /// A thread that names had spoken of has appeared.
    met: bool,
}

impl Reader {
    /// Reads events for some properties of a specification. `names` are those that were bound before. `follow`: what
    /// variables hold counts, too, where a property only asks for accesses of them.
    pub(crate) fn new<'p>(
        spec: &'p Arc<Spec>,
        properties: impl IntoIterator<Item = &'p Property>,
        init: &[(String, Const)],
        names: BoundNames,
        follow: bool,
    ) -> Reader {
        let BoundNames { bindings, mut objects } = names;
        let values = Values::new(spec, &mut objects, init);
        Reader {
            filter: EventFilter::new(spec, properties, follow),
            spec: spec.clone(),
            bindings,
            objects,
            values,
            taken: 0,
            depth: HashMap::new(),
            acted: Vec::new(),
            first: false,
            met: false,
        }
    }

    /// Looks at the names and initial values of a batch. `begun`: there were events before.
    pub(crate) fn open(&mut self, names: &Names, batch: &Batch, begun: bool) {
        // Initial values stand before the first event; later ones count only for objects that were not there yet.
        for init in &batch.inits {
            let held = self.objects.of_value(names, init.value).map_or(HeldValue::Unknown, HeldValue::Known);
            self.values.give(names.str(init.name), held, begun || init.before > 0);
        }
        self.grow(names);
        self.acted.resize(names.space(Space::Thread).len(), false);
    }

    /// Before the first event: variables get the initial values that the trace gives.
    pub(crate) fn begin(&mut self) {
        self.values.adopt_given(&self.spec);
    }

    /// Looks at new names; an initial value that the trace gave for one of them is its own.
    pub(crate) fn grow(&mut self, names: &Names) {
        if !self.bindings.is_complete(names) {
            Arc::make_mut(&mut self.bindings).grow(&self.spec, names, &mut self.objects);
        }
        let known = std::mem::replace(&mut self.taken, self.bindings.vars.len());
        for (number, meant) in self.bindings.vars.iter().enumerate().skip(known) {
            for meant in meant.iter().filter(|meant| meant.index.is_some()) {
                let name = names.get(Space::Var, number as u32);
                self.values.adopt_given_of((meant.number, meant.index), name);
            }
        }
        self.filter.grow(&self.bindings);
        self.met |= self.objects.meet_threads(names);
    }

    /// Whether a thread that names had spoken of has appeared since this was asked last.
    pub(crate) fn has_met(&mut self) -> bool {
        std::mem::take(&mut self.met)
    }

    /// The names that were bound so far.
    pub(crate) fn names(&self) -> BoundNames {
        BoundNames { bindings: self.bindings.clone(), objects: self.objects.clone() }
    }

    /// Whether anything may say what a variable of the trace holds at first.
    pub(crate) fn speaks_of(&self, var: usize) -> bool {
        !self.bindings.vars[var].is_empty() || self.values.has_given()
    }

    /// What a variable of the trace holds at first, before effects are applied.
    pub(crate) fn initial(&self, names: &Names, var: VarId) -> Value {
        // Of several declarations that mean it, the first that says something.
        let meant = self.bindings.vars[var.0 as usize].iter();
        let own = meant.filter(|meant| self.spec.variables[meant.number as usize].kind == VariableKind::Shared);
        let mut held = own.map(|meant| self.values.get((meant.number, meant.index)));
        let held = held.find(|held| *held != HeldValue::Unknown).or_else(|| self.values.given(names.var(var)));
        match held {
            Some(HeldValue::Known(Subject::Bool(b))) => Value::Bool(b),
            Some(HeldValue::Known(Subject::Int(n))) => Value::Int(n),
            Some(HeldValue::Known(Subject::Real(bits))) => Value::Real(f64::from_bits(bits)),
            // A string that the trace never mentions is equal to none of its values.
            Some(HeldValue::Known(Subject::Text(text))) => names
                .space(Space::Str)
                .find(self.objects.name(text).as_bytes())
                .map_or(Value::Unknown, |id| Value::Str(StrId(id))),
            _ => Value::Unknown,
        }
    }

    /// Whether an event can matter to some property, apart from being a step where all events are. To be asked about
    /// every event, in order.
    #[inline(always)]
    pub(crate) fn matters(&mut self, event: Event) -> bool {
        self.first = false;
        if self.filter.started {
            self.first = !std::mem::replace(&mut self.acted[event.thread().0 as usize], true);
        }
        self.first || self.filter.matters(event)
    }

    /// What the event that was asked about last does.
    pub(crate) fn read(&mut self, names: &Names, batch: &Batch, event: Event, effect: &mut EventEffect) {
        effect.written.clear();
        effect.forgotten.clear();
        effect.gone.clear();
        effect.crossed.clear();
        effect.args.clear();
        effect.first = self.first;
        let thread = event.thread();
        let own = self.objects.thread(thread);
        match event.op() {
            Op::Write | Op::AtomicStore | Op::AtomicRmw => {
                let meant = &self.bindings.vars[event.var().0 as usize];
                if meant.is_empty() {
                    return;
                }
                let value = self.objects.of_value(names, batch.extra(event).value);
                for meant in meant {
                    let variable = &self.spec.variables[meant.number as usize];
                    let index = if variable.kind == VariableKind::Local { Some(own) } else { meant.index };
                    let identity = variable.ty == Some(Type::Ref);
                    let value = value.map(|v| if identity { self.objects.of_identity(names, v) } else { v });
                    effect.written.push(((meant.number, index), value.map_or(HeldValue::Unknown, HeldValue::Known)));
                }
            }
            op @ (Op::Alloc | Op::Free) => {
                for meant in &self.bindings.vars[event.var().0 as usize] {
                    effect.forgotten.push((meant.number, meant.index));
                    if let (Op::Free, Some(subject @ Subject::Object(_))) = (op, meant.index)
                        && !effect.gone.contains(&subject)
                    {
                        effect.gone.push(subject);
                    }
                }
            }
            op @ (Op::Begin | Op::End) => {
                let enters = op == Op::Begin;
                for &region in &self.bindings.blocks[event.block().0 as usize] {
                    let depth = self.depth.entry((region, thread)).or_default();
                    *depth = if enters { *depth + 1 } else { depth.saturating_sub(1) };
                    if *depth == u32::from(enters) {
                        effect.crossed.push(region);
                        effect.written.push(((region, Some(own)), HeldValue::Known(Subject::Bool(enters))));
                    }
                }
            }
            Op::Internal => {
                effect.args.extend(batch.args(event).iter().map(|&value| self.objects.of_value(names, value)));
            }
            _ => {}
        }
    }

    /// The event with what it does, to be matched.
    pub(crate) fn seen<'a>(
        &'a self,
        names: &'a Names,
        batch: &'a Batch,
        event: Event,
        effect: &'a EventEffect,
    ) -> EventView<'a> {
        EventView {
            names,
            batch,
            event,
            bindings: &self.bindings,
            objects: &self.objects,
            crossed: &effect.crossed,
            first: effect.first,
            args: &effect.args,
        }
    }
}
