//! From addresses of a running program to functions, lines and variables.

use crate::maps::{ModuleId, Modules};
use crate::path;
use crate::program::{GlobalName, Program};
use crate::{Error, system};
use std::collections::HashMap;

/// A place in a program's source, and the function it is in.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Frame {
    /// The function, as its programmer calls it, or `module+0x12ab` if it is unknown.
    pub function: String,
    /// The source file, or the empty string.
    pub file: String,
    /// The line, or 0.
    pub line: u32,
    /// Whether it is no part of the project: a system library or header, a runtime, our own agent.
    pub system: bool,
}

/// Names what lies at the addresses of one running program. Files are opened when an address in them is asked for, and
/// answers are remembered.
pub struct Symbolizer {
    modules: Modules,
    programs: HashMap<ModuleId, Option<Program>>,
    frames: HashMap<u64, Vec<Frame>>,
    errors: Vec<Error>,
}

impl Symbolizer {
    /// A symbolizer for a program with these modules.
    pub fn new(modules: Modules) -> Symbolizer {
        Symbolizer { modules, programs: HashMap::new(), frames: HashMap::new(), errors: Vec::new() }
    }

    /// The modules.
    pub fn modules(&self) -> &Modules {
        &self.modules
    }

    /// Adds what a later look at `/proc/PID/maps` shows.
    pub fn add_maps(&mut self, text: &str) {
        self.modules.add(text);
        // What was nowhere may be somewhere now, and what had been unloaded is something else.
        self.frames.clear();
    }

    /// Why files could not be read, as far as they were needed.
    pub fn errors(&self) -> &[Error] {
        &self.errors
    }

    /// The functions around the call that returns to `pc`, innermost inlined first; at least one. The address before
    /// `pc` is looked up, for a call may be the last instruction of its line or function.
    pub fn frames(&mut self, pc: u64) -> &[Frame] {
        if !self.frames.contains_key(&pc) {
            let found = self.look_up(pc.wrapping_sub(1), pc);
            self.frames.insert(pc, found);
        }
        self.frames.get(&pc).map(Vec::as_slice).unwrap_or_default()
    }

    /// The global or static variable that an address of the running program is part of.
    pub fn object_at(&mut self, address: u64) -> Option<GlobalName> {
        let (id, address) = self.modules.find(address)?;
        self.program(id)?.object(address, false)
    }

    /// The name of the largest part of a variable that begins at an address of the running program and is no array:
    /// the variable itself, an element, a member.
    pub fn whole_at(&mut self, address: u64) -> Option<String> {
        let (id, address) = self.modules.find(address)?;
        let program = self.program(id)?;
        let found = program.object(address, false).filter(|found| found.offset == 0)?;
        let before = address.checked_sub(1).and_then(|before| program.object(before, false));
        let name = path::first_whole(&found.name, before.as_ref().map_or("", |before| &before.name));
        Some(name.to_owned())
    }

    /// The thread-local variable of the program itself (not of a library) that an address is part of, in the thread
    /// with this thread pointer (x86-64: the base of `fs`).
    pub fn thread_local_at(&mut self, thread_pointer: u64, address: u64) -> Option<GlobalName> {
        let id = ModuleId(0);
        let tls = self.modules.get(id)?.tls?;
        // The program's variables end at the thread pointer, rounded to their alignment.
        let align = tls.align.max(1);
        let size = tls.size.checked_next_multiple_of(align)?;
        let start = thread_pointer.checked_sub(size)?;
        let offset = address.checked_sub(start).filter(|offset| *offset < tls.size)?;
        self.program(id)?.object(offset, true)
    }

    fn program(&mut self, id: ModuleId) -> Option<&mut Program> {
        let Symbolizer { modules, programs, errors, .. } = self;
        let program = programs.entry(id).or_insert_with(|| {
            let path = &modules.get(id)?.path;
            if !path.is_absolute() {
                return None;
            }
            Program::open(path).map_err(|error| errors.push(error)).ok()
        });
        program.as_mut()
    }

    fn look_up(&mut self, address: u64, pc: u64) -> Vec<Frame> {
        let unknown = |function: String, system| vec![Frame { function, file: String::new(), line: 0, system }];
        let Some((id, address)) = self.modules.find(address) else { return unknown(format!("{pc:#x}"), false) };
        let path = self.modules.get(id).map(|module| module.path.clone()).unwrap_or_default();
        let system_module = system::is_system_module(&path);
        let module = path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy());
        let nameless = format!("{module}+{:#x}", address.wrapping_add(1));
        let Some(program) = self.program(id) else { return unknown(nameless, system_module) };
        let levels = program.debug.as_mut().map(|debug| debug.levels(address)).unwrap_or_default();
        if levels.is_empty() {
            let function = program.function_by_symbol(address).unwrap_or(nameless);
            let system = system_module || system::is_system_function(&function);
            return unknown(function, system);
        }
        let mut frames = Vec::with_capacity(levels.len());
        for level in levels {
            let function = level.function.and_then(|die| program.function_called(die)).map(|called| called.name);
            let function = function.or_else(|| program.function_by_symbol(address)).unwrap_or_else(|| nameless.clone());
            let system = system_module || system::is_system_file(&level.file) || system::is_system_function(&function);
            frames.push(Frame { function, file: level.file, line: level.line, system });
        }
        frames
    }
}
