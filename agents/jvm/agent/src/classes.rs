//! Knows all classes and sites: which field a site accesses, and the number of an object's class.

use crate::metadata::{MetadataLog, clean};
use crate::settings::AgentSettings;
use rustc_hash::FxHashMap;
use std::fmt::Write;
use weave::class::access;
use weave::{ClassInfo, Site, SiteKind};

/// Kinds of variables, as in `Cells.java`.
pub(crate) mod variable {
    pub(crate) const NOTHING: u64 = 1;
    pub(crate) const PLAIN: u64 = 2;
    pub(crate) const VOLATILE: u64 = 3;
    pub(crate) const WATCHED: u64 = 4;
}

/// The number of the bootstrap class loader.
pub(crate) const BOOT: i64 = 0;
/// Beside the number of an object's class: the object is the class's static fields.
const STATICS: u64 = 1 << 31;

/// A class.
#[derive(Default)]
struct Class {
    loader: i64,
    known: ClassInfo,
    /// The number of its super class; 0: not known.
    parent: u32,
    /// How many fields its super classes have.
    above: u32,
    /// The address of the cells of its static fields. Each is three words, and the address of the field in records.
    statics: Option<usize>,
}

/// What is known of a site.
struct SiteInfo {
    class: u32,
    kind: SiteKind,
    field: Option<[Vec<u8>; 3]>,
}

/// All classes and sites.
pub(crate) struct Classes {
    metadata: MetadataLog,
    settings: AgentSettings,
    /// Plain fields are not watched.
    has_no_accesses: bool,
    classes: Vec<Class>,
    by_name: FxHashMap<Vec<u8>, Vec<u32>>,
    sites: Vec<SiteInfo>,
    loaders: i64,
}

/// The field that a site accesses.
pub(crate) struct FieldRef {
    /// How far the field's class is above the object's.
    pub(crate) depth: usize,
    /// The field's number among all fields of the object, and among those of its class.
    pub(crate) of_all: u32,
    pub(crate) own: u32,
    /// How records encode its values.
    pub(crate) encoding: u64,
    /// One of [`variable`].
    pub(crate) what: u64,
}

/// The static field that a site accesses.
pub(crate) enum StaticField {
    /// It is not watched.
    Nothing,
    /// Its class is not loaded yet.
    Unknown,
    /// The address of its cell, how records encode its values, and one of [`variable`].
    Cell { at: u64, encoding: u64, what: u64 },
}

/// How records encode the values of a type (`observe` decodes them); 0 where they have none.
fn encoding(descriptor: &[u8]) -> u64 {
    match descriptor {
        b"B" | b"C" | b"S" | b"I" | b"J" => 1,
        b"Z" => 2,
        b"F" | b"D" => 3,
        _ => 0,
    }
}

/// A part of the names of lambdas' classes.
const LAMBDA: &[u8] = b"$$Lambda";

impl Classes {
    pub(crate) fn new(metadata: MetadataLog, settings: AgentSettings, has_no_accesses: bool) -> Classes {
        // Numbers begin with 1.
        let none = SiteInfo { class: 0, kind: SiteKind::Enter, field: None };
        Classes {
            metadata,
            settings,
            has_no_accesses,
            classes: vec![Class::default()],
            by_name: FxHashMap::default(),
            sites: vec![none],
            loaders: BOOT,
        }
    }

    /// A number for another loader.
    pub(crate) fn new_loader(&mut self) -> i64 {
        self.loaders += 1;
        self.loaders
    }

    /// The number of the next site.
    pub(crate) fn next_site(&self) -> u32 {
        self.sites.len() as u32
    }

    /// Adds a class that was woven. Its sites get the next numbers.
    pub(crate) fn add(&mut self, loader: i64, known: ClassInfo, sites: Vec<Site>) {
        let number = self.insert(loader, known);
        let mut lines = self.line(number);
        let known = &self.classes[number as usize].known;
        for site in &sites {
            let method = known.methods.get(site.method).map(|(name, _)| clean(name)).unwrap_or_default();
            let _ = write!(lines, "s\t{number}\t{method}\t{}", site.line);
            if let (SiteKind::Make, Some([class, name, _])) = (site.kind, &site.field) {
                let _ = write!(lines, "\t{}.{}", clean(class), clean(name));
            }
            lines.push('\n');
        }
        self.metadata.write(&lines);
        self.sites.extend(sites.into_iter().map(|Site { kind, field, .. }| SiteInfo { class: number, kind, field }));
    }

    /// A site for a call that is only on a stack.
    pub(crate) fn frame(&mut self, class: u32, method: &[u8], line: i32, source: Option<Vec<u8>>) -> u32 {
        let known = &mut self.classes[class as usize].known;
        let mut lines = String::new();
        if known.source.is_none()
            && let Some(source) = source
        {
            let _ = writeln!(lines, "f\t{class}\t{}", clean(&source));
            known.source = Some(source);
        }
        let _ = writeln!(lines, "s\t{class}\t{}\t{line}", clean(method));
        self.metadata.write(&lines);
        self.sites.push(SiteInfo { class, kind: SiteKind::Mark, field: None });
        self.sites.len() as u32 - 1
    }

    /// The next call context is a call at a site, from another context.
    pub(crate) fn call(&mut self, caller: u32, site: u32) {
        self.metadata.write(&format!("k\t{caller}\t{site}\n"));
    }

    /// Adds a note for the report.
    pub(crate) fn note(&mut self, text: &str) {
        self.metadata.write(&format!("n\t{}\n", clean(text.as_bytes())));
    }

    fn line(&self, number: u32) -> String {
        let Class { known, parent, .. } = &self.classes[number as usize];
        let source = known.source.as_deref().map(clean).unwrap_or_default();
        let mut line = format!("c\t{parent}\t{}\t{source}", clean(&known.name));
        for (name, _, flags) in &known.fields {
            let _ = write!(line, "\t{flags}:{}", clean(name));
        }
        line.push('\n');
        line
    }

    /// The newest class of a name: of this loader, or else of any.
    fn find(&self, loader: i64, name: &[u8]) -> Option<u32> {
        let all = self.by_name.get(name)?;
        let own = all.iter().rev().find(|&&number| self.classes[number as usize].loader == loader);
        own.or(all.last()).copied()
    }

    fn insert(&mut self, loader: i64, known: ClassInfo) -> u32 {
        let number = self.classes.len() as u32;
        self.by_name.entry(known.name.clone()).or_default().push(number);
        self.classes.push(Class { loader, known, parent: 0, above: 0, statics: None });
        number
    }

    /// How many fields objects of a class have.
    fn size(&self, number: u32) -> u32 {
        let class = &self.classes[number as usize];
        class.above + class.known.fields.len() as u32
    }

    /// The number of a class, and how many fields its objects have. A class that was not woven gets a number now;
    /// `parent` is its nearest super class that was woven.
    pub(crate) fn class_number(&mut self, loader: i64, name: &[u8], parent: Option<(i64, Vec<u8>)>) -> (u32, u32) {
        let exact = self
            .by_name
            .get(name)
            .and_then(|all| all.iter().rev().find(|&&number| self.classes[number as usize].loader == loader).copied());
        let number = exact.unwrap_or_else(|| {
            let known = ClassInfo { name: name.to_vec(), ..ClassInfo::default() };
            let number = self.insert(loader, known);
            if let Some(parent) = parent.and_then(|(loader, name)| self.find(loader, &name)) {
                self.classes[number as usize].parent = parent;
                self.classes[number as usize].above = self.size(parent);
            }
            let line = self.line(number);
            self.metadata.write(&line);
            number
        });
        self.resolve_parent(number);
        (number, self.size(number))
    }

    /// Whether a class was woven.
    pub(crate) fn is_known(&self, loader: i64, name: &[u8]) -> bool {
        self.find(loader, name).is_some_and(|number| self.classes[number as usize].loader == loader)
    }

    /// Whether two sites are in one class.
    pub(crate) fn is_of_one_class(&self, some: u32, other: u32) -> bool {
        let class = |site: u32| self.sites.get(site as usize).map(|of| of.class);
        class(some).is_some() && class(some) == class(other)
    }

    /// Whether a site is in a class that is watched.
    pub(crate) fn is_program(&self, site: u32) -> bool {
        let class = self.sites.get(site as usize).and_then(|of| self.classes.get(of.class as usize));
        class
            .is_some_and(|class| std::str::from_utf8(&class.known.name).is_ok_and(|name| self.settings.has_class(name)))
    }

    /// The class that the call of a site names, if the site has kept it.
    pub(crate) fn called(&self, site: u32) -> Option<Vec<u8>> {
        self.sites.get(site as usize)?.field.as_ref().map(|[class, ..]| class.clone())
    }

    /// Whether a call on an object whose class and super classes are these goes to a watched method.
    pub(crate) fn is_watched(&self, chain: &[(i64, Vec<u8>)], name: &str, descriptor: &str) -> bool {
        for (loader, class) in chain {
            // A lambda's body is a method of the class around it.
            if class.windows(LAMBDA.len()).any(|part| part == LAMBDA) {
                return true;
            }
            let is_watched = std::str::from_utf8(class).is_ok_and(|class| self.settings.has_class(class));
            let Some(number) = self.find(*loader, class).filter(|_| is_watched) else { return false };
            let has = |(known, of): &(Vec<u8>, Vec<u8>)| known == name.as_bytes() && of == descriptor.as_bytes();
            if self.classes[number as usize].known.methods.iter().any(has) {
                return true;
            }
        }
        false
    }

    /// Whether only `Object` has a method of this name: all other classes are watched, and known not to have it.
    pub(crate) fn has_no(&self, chain: &[(i64, Vec<u8>)], name: &[u8]) -> bool {
        const ENDS: [&[u8]; 2] = [b"java/lang/Object", weave::WATCHED.as_bytes()];
        chain.iter().filter(|(_, class)| !ENDS.contains(&class.as_slice())).all(|(loader, class)| {
            let is_watched = std::str::from_utf8(class).is_ok_and(|class| self.settings.has_class(class));
            let number = self.find(*loader, class).filter(|_| is_watched);
            number.is_some_and(|number| {
                let methods = &self.classes[number as usize].known.methods;
                !methods.is_empty() && methods.iter().all(|(known, _)| known != name)
            })
        })
    }

    pub(crate) fn object(&mut self, class: u32, parts: u64, site: u32) -> u64 {
        self.metadata.object(class.into(), parts, site.into())
    }

    pub(crate) fn made(&self, address: u64, site: u32) {
        self.metadata.made(address, site.into());
    }

    /// The object with an address is put at a site in a field of another one (0: the field is static).
    pub(crate) fn kept(&mut self, address: u64, owner: u64, site: u32) {
        self.metadata.write(&format!("o\t{address}\t{owner}\t{site}\n"));
    }

    fn what(&self, class: u32, field: usize) -> u64 {
        let known = &self.classes[class as usize].known;
        let (name, _, flags) = &known.fields[field];
        match flags {
            flags if flags & access::FINAL != 0 => variable::NOTHING,
            flags if flags & access::VOLATILE != 0 => variable::VOLATILE,
            _ if self.settings.has_field(&known.name, name) => variable::WATCHED,
            _ if self.has_no_accesses => variable::NOTHING,
            _ => variable::PLAIN,
        }
    }

    /// The field that a site accesses in an object whose class and super classes are these. `None`: it is not
    /// watched.
    pub(crate) fn field(&mut self, site: u32, chain: &[(i64, Vec<u8>)]) -> Option<FieldRef> {
        let [named, name, of] = &self.sites.get(site as usize)?.field.clone()?;
        let begin = chain.iter().position(|(_, class)| class == named)?;
        for (depth, (loader, class)) in chain.iter().enumerate().skip(begin) {
            let number = self.find(*loader, class).filter(|&number| self.classes[number as usize].loader == *loader);
            let Some(number) = number else { continue };
            self.resolve_parent(number);
            let Class { known, above, .. } = &self.classes[number as usize];
            if let Some(field) = known.fields.iter().position(|(known, known_of, _)| known == name && known_of == of) {
                let what = self.what(number, field);
                let encoding = encoding(of);
                return Some(FieldRef { depth, of_all: above + field as u32, own: field as u32, encoding, what });
            }
        }
        None
    }

    /// The static field that a site means.
    pub(crate) fn statics(&mut self, site: u32) -> StaticField {
        let Some(SiteInfo { field: Some([named, name, descriptor]), class, .. }) = self.sites.get(site as usize) else {
            return StaticField::Nothing;
        };
        let (named, name, encoding) = (named.clone(), name.clone(), encoding(descriptor));
        let descriptor = descriptor.clone();
        let loader = self.classes[*class as usize].loader;
        let Some(mut number) = self.find(loader, &named) else {
            // If the class will never be watched, this is still asked only a few times: each site has few accesses
            // before its class is loaded.
            let is_watched = std::str::from_utf8(&named).is_ok_and(|named| self.settings.has_class(named));
            return if is_watched { StaticField::Unknown } else { StaticField::Nothing };
        };
        let field = loop {
            self.resolve_parent(number);
            let known = &self.classes[number as usize].known;
            let is_it = |(known, of, _): &(Vec<u8>, Vec<u8>, u16)| *known == name && *of == descriptor;
            if let Some(field) = known.fields.iter().position(is_it) {
                break field;
            }
            // Fields of interfaces are final.
            match self.classes[number as usize].parent {
                0 => return StaticField::Nothing,
                parent => number = parent,
            }
        };
        match (self.what(number, field), self.static_cell(number, field)) {
            (variable::NOTHING, _) | (_, None) => StaticField::Nothing,
            (what, Some(at)) => StaticField::Cell { at, encoding, what },
        }
    }

    /// Finds the super class of a class, which may have been loaded after it.
    fn resolve_parent(&mut self, number: u32) {
        let Class { loader, known, parent, .. } = &self.classes[number as usize];
        let (loader, parent, known) = (*loader, *parent, known.parent.clone());
        if parent != 0 {
            return;
        }
        let Some(parent) = known.and_then(|name| self.find(loader, &name)).filter(|&parent| parent != number) else {
            return;
        };
        self.classes[number as usize].parent = parent;
        self.resolve_parent(parent);
        self.classes[number as usize].above = self.size(parent);
        self.metadata.write(&format!("p\t{number}\t{parent}\n"));
    }

    /// The field of a name in a class, packed as `Native.java` says.
    pub(crate) fn named(&mut self, (loader, class): &(i64, Vec<u8>), name: &[u8]) -> Option<u64> {
        const STATIC: u64 = 8;
        let number = self.find(*loader, class).filter(|&number| self.classes[number as usize].loader == *loader)?;
        self.resolve_parent(number);
        let Class { known, above, .. } = &self.classes[number as usize];
        let field = known.fields.iter().position(|(of, ..)| of == name)?;
        let (_, descriptor, flags) = &known.fields[field];
        let (encoding, is_static) = (encoding(descriptor), flags & access::STATIC != 0);
        // Whatever its flags are, an updater or `VarHandle` accesses it atomically.
        let of_all = u64::from(above + field as u32) | (field as u64) << 24;
        if flags & access::FINAL != 0 {
            return None;
        }
        let (place, more) = if is_static { (self.static_cell(number, field)?, STATIC) } else { (of_all, 0) };
        Some(place | encoding << 52 | (variable::VOLATILE | more) << 56)
    }

    /// The cell of a static field.
    fn static_cell(&mut self, number: u32, field: usize) -> Option<u64> {
        if self.classes[number as usize].statics.is_none() {
            let count = self.classes[number as usize].known.fields.len();
            let base = self.metadata.object(u64::from(number) | STATICS, count as u64, 0);
            let cells: Vec<[u64; 4]> = (0..count as u64).map(|field| [0, 0, 0, base + 8 + 8 * field]).collect();
            self.classes[number as usize].statics = Some(cells.leak().as_mut_ptr() as usize);
        }
        let cells = self.classes[number as usize].statics?;
        Some((cells + field * size_of::<[u64; 4]>()) as u64)
    }

    /// What the classes of a loader see of the program.
    pub(crate) fn context(&self, loader: i64) -> ClassContext<'_> {
        ClassContext { classes: self, loader }
    }

    /// The kind of a site.
    pub(crate) fn site_kind(&self, site: u32) -> Option<SiteKind> {
        self.sites.get(site as usize).map(|site| site.kind)
    }
}

/// What the classes of a loader see of the program.
pub(crate) struct ClassContext<'c> {
    classes: &'c Classes,
    loader: i64,
}

impl weave::ClassContext for ClassContext<'_> {
    fn field(&self, class: &[u8], name: &[u8], descriptor: &[u8]) -> Option<u16> {
        // A site may name the field through a subclass.
        if self.classes.settings.has_field_named(name) {
            return Some(access::VOLATILE);
        }
        let mut number = self.classes.find(self.loader, class)?;
        loop {
            let Class { known, parent, .. } = &self.classes.classes[number as usize];
            if let Some((.., flags)) = known.fields.iter().find(|(of, is, _)| of == name && is == descriptor) {
                return Some(*flags);
            }
            number = Some(*parent).filter(|&parent| parent != 0)?;
        }
    }

    fn is_watched(&self, class: &[u8]) -> bool {
        !class.starts_with(b"[") && std::str::from_utf8(class).is_ok_and(|name| self.classes.settings.has_class(name))
    }

    fn mark(&self, class: &[u8], method: &[u8]) -> Vec<(weave::Mark, String)> {
        self.classes.settings.marks(class, method)
    }

    fn called(&self, method: &[u8]) -> Vec<weave::CallMark> {
        self.classes.settings.called(method)
    }
}
