//! Names of Java programs: classes, fields, objects and sites, from the metadata log that the agent writes beside the
//! process' file (`agents/jvm/agent/src/` says how).

use crate::naming::{Frame, Mapped, Naming, Object};
use event::Made;
use runtime::java::GUESSED;
use runtime::java::OBJECT_BYTES;
pub(crate) use runtime::java::{AGENT, SITES};
use rustc_hash::FxHashMap;
use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// In the number of an object's class: its static fields, or the class as an object.
const STATICS: u64 = 1 << 31;
/// How the names of the JDK's classes begin.
const IS_JDK: [&str; 10] =
    ["java.", "javax.", "jdk.", "sun.", "com.sun.", "netscape.", "org.xml.", "org.w3c.", "org.ietf.", "org.jcp."];
/// The outermost frame of a stack that was not looked at when the access was made.
const GUESS: &str = "(guessed: the calls that were found here at other times)";
/// No line is longer.
const MAX_LINE: usize = 1 << 20;
/// Classes, sites and objects that are kept.
const MAX_KEPT: usize = 1 << 26;
/// Fields on the way to an object.
const MAX_WAY: usize = 8;
/// Classes above one another.
const MAX_DEPTH: usize = 1 << 10;

/// A class.
#[derive(Default)]
struct Class {
    parent: usize,
    /// With dots.
    name: String,
    source: String,
    fields: Vec<String>,
}

/// A site.
struct Site {
    class: usize,
    method: String,
    line: u32,
    /// The field in which an object is put there; empty: in none.
    kept: String,
}

/// Names the addresses of one Java process.
pub(crate) struct Java {
    text: Option<File>,
    objects: Option<File>,
    /// The part of the text that is no whole line yet.
    rest: Vec<u8>,
    classes: Vec<Class>,
    sites: Vec<Site>,
    /// Addresses, what is there, and the site where it was made.
    known: Vec<[u64; 3]>,
    notes: Vec<String>,
    /// By address of an object: the object in whose field it was put first (0: the field is static), and the site.
    owners: FxHashMap<u64, (u64, usize)>,
    /// Call contexts from [`SITES`] on: callers and sites.
    contexts: Vec<(u32, u32)>,
}

impl Java {
    /// The names of the process with this file.
    pub(crate) fn beside(process: &Path) -> Java {
        let open = |ending: &str| {
            let mut path = process.as_os_str().to_owned();
            path.push(ending);
            File::open(path).ok()
        };
        Java {
            text: open(".java"),
            objects: open(".objects"),
            rest: Vec::new(),
            classes: vec![Class::default()],
            sites: vec![Site { class: 0, method: String::new(), line: 0, kept: String::new() }],
            known: Vec::new(),
            notes: Vec::new(),
            owners: FxHashMap::default(),
            contexts: Vec::new(),
        }
    }

    /// Reads the lines that came since.
    fn read_text(&mut self) {
        let Some(file) = &mut self.text else { return };
        let before = self.rest.len();
        if file.read_to_end(&mut self.rest).is_err() || self.rest.len() == before {
            return;
        }
        let end = self.rest.iter().rposition(|&byte| byte == b'\n').map_or(0, |at| at + 1);
        let rest = self.rest.split_off(end);
        for line in std::mem::replace(&mut self.rest, rest).split(|&byte| byte == b'\n') {
            if line.len() <= MAX_LINE {
                self.read_line(&String::from_utf8_lossy(line));
            }
        }
    }

    fn read_line(&mut self, line: &str) {
        let mut parts = line.split('\t');
        let kind = parts.next();
        let number = |text: Option<&str>| text.and_then(|text| text.parse::<usize>().ok()).unwrap_or(0);
        match kind {
            Some("c") if self.classes.len() < MAX_KEPT => {
                let parent = number(parts.next()).min(self.classes.len() - 1);
                let name = parts.next().unwrap_or_default().replace('/', ".");
                let source = parts.next().unwrap_or_default().to_owned();
                let field = |text: &str| text.split_once(':').map_or(text, |(_, name)| name).to_owned();
                self.classes.push(Class { parent, name, source, fields: parts.map(field).collect() });
            }
            Some("s") if self.sites.len() < MAX_KEPT => {
                let class = number(parts.next()).min(self.classes.len() - 1);
                let method = parts.next().unwrap_or_default().to_owned();
                let line = number(parts.next()) as u32;
                let kept = parts.next().unwrap_or_default().replace('/', ".");
                self.sites.push(Site { class, method, line, kept });
            }
            Some("o") if self.owners.len() < MAX_KEPT => {
                let (object, owner, site) = (number(parts.next()), number(parts.next()), number(parts.next()));
                self.owners.entry(object as u64).or_insert((owner as u64, site));
            }
            Some("p") => {
                let (class, parent) = (number(parts.next()), number(parts.next()));
                if class < self.classes.len() && parent < self.classes.len() && class != parent {
                    self.classes[class].parent = parent;
                }
            }
            Some("f") => {
                let (class, source) = (number(parts.next()), parts.next().unwrap_or_default());
                if let Some(class) = self.classes.get_mut(class) {
                    source.clone_into(&mut class.source);
                }
            }
            Some("k") if self.contexts.len() < MAX_KEPT => {
                self.contexts.push((number(parts.next()) as u32, number(parts.next()) as u32));
            }
            Some("n") => self.notes.push(parts.next().unwrap_or_default().to_owned()),
            _ => {}
        }
    }

    /// Reads the objects that came since.
    fn read_objects(&mut self) {
        const AT_ONCE: usize = 1 << 12;
        let Some(file) = &self.objects else { return };
        let mut bytes = [0; OBJECT_BYTES * AT_ONCE];
        while self.known.len() < MAX_KEPT {
            let Ok(count) = file.read_at(&mut bytes, (self.known.len() * OBJECT_BYTES) as u64) else { return };
            let before = self.known.len();
            for entry in bytes[..count].as_chunks::<OBJECT_BYTES>().0 {
                let word = |at: usize| entry[at..at + 8].try_into().map_or(0, u64::from_ne_bytes);
                let (address, what, site) = (word(0), word(8), word(16));
                if address == 0 || self.known.last().is_some_and(|last| last[0] >= address) {
                    break;
                }
                self.known.push([address, what, site]);
            }
            if self.known.len() < before + AT_ONCE {
                return;
            }
        }
    }

    /// The number of the object that an address is in.
    fn find(&self, address: u64) -> Option<usize> {
        let index = self.known.partition_point(|&[start, ..]| start <= address).checked_sub(1)?;
        let [start, what, _] = self.known[index];
        (address - start <= 8 * (1 + (what & u64::from(u32::MAX)))).then_some(index)
    }

    /// The way that leads to an object from a static field, `Main.pool.queue`, or from the class of its first owner
    /// that is in no field itself; empty if it is in none. `known`: the field in which it was put where it was made.
    fn way(&self, object: u64, known: &str) -> String {
        let mut fields: Vec<&str> = Vec::new();
        let mut at = object;
        while let Some(&(owner, site)) = self.owners.get(&at)
            && let Some(field) = self.sites.get(site).map(|site| site.kept.as_str()).filter(|field| !field.is_empty())
        {
            fields.push(field);
            // Objects in each other's fields have no beginning.
            if fields.len() > MAX_WAY {
                fields.truncate(1);
                break;
            }
            if owner == 0 {
                break;
            }
            at = owner;
        }
        let Some(first) = fields.pop() else { return known.to_owned() };
        let mut way = first.to_owned();
        for field in fields.iter().rev() {
            way.push('.');
            way.push_str(field.rsplit('.').next().unwrap_or_default());
        }
        way
    }

    /// What is at an address in an object.
    fn name(&self, index: usize, address: u64) -> String {
        let [start, what, _] = self.known[index];
        let class = (what >> 32 & (STATICS - 1)) as usize;
        let number = index + 1;
        let part = ((address - start) / 8).checked_sub(1);
        let name = self.classes.get(class).map_or("?", |class| &class.name);
        let is_static = what >> 32 & STATICS != 0;
        // Its unseen data are behind all fields. (The object as a lock is before them, at its address.)
        if part == Some(what & u64::from(u32::MAX)) {
            return if is_static { format!("{name}.class~") } else { format!("{}@{number}~", readable(name)) };
        }
        match part {
            None if is_static => format!("{name}.class"),
            Some(part) if is_static => {
                let field = self.classes.get(class).and_then(|class| class.fields.get(part as usize));
                format!("{name}.{}", field.map_or("?", |field| field))
            }
            _ if name.starts_with('[') => {
                let element = part.map(|part| format!("[{part}]")).unwrap_or_default();
                format!("{}@{number}{element}", readable(name))
            }
            None => format!("{name}@{number}"),
            Some(part) => match self.field(class, part as usize) {
                Some((class, field)) => format!("{class}.{field}@{number}"),
                // An entry of a collection.
                None => format!("{name}@{number}[{part}]"),
            },
        }
    }

    /// The class that has a field, and its name, by its number among all of an object's.
    fn field(&self, class: usize, number: usize) -> Option<(&str, &str)> {
        let mut chain = Vec::new();
        let mut at = class;
        while at != 0 && chain.len() < MAX_DEPTH {
            chain.push(at);
            at = self.classes.get(at)?.parent;
        }
        let mut number = number;
        for class in chain.into_iter().rev() {
            let class = &self.classes[class];
            match class.fields.get(number) {
                Some(field) => return Some((&class.name, field)),
                None => number -= class.fields.len(),
            }
        }
        None
    }
}

/// The name of an array's class as in the source: `[I` is `int[]`.
fn readable(name: &str) -> String {
    let depth = name.bytes().take_while(|&byte| byte == b'[').count();
    let element = match &name[depth..] {
        "Z" => "boolean",
        "B" => "byte",
        "C" => "char",
        "S" => "short",
        "I" => "int",
        "J" => "long",
        "F" => "float",
        "D" => "double",
        other => other.strip_prefix('L').and_then(|name| name.strip_suffix(';')).unwrap_or(other),
    };
    format!("{element}{}", "[]".repeat(depth))
}

impl Naming for Java {
    fn maps(&mut self, _text: &[u8]) {}

    fn frames(&mut self, site: u64) -> Vec<Frame> {
        if site == u64::from(GUESSED) {
            return vec![Frame { site: GUESS.to_owned(), library: None }];
        }
        let index = usize::try_from(site).unwrap_or(0);
        if index >= self.sites.len() {
            self.read_text();
        }
        let Some(Site { class, method, line, .. }) = self.sites.get(index).filter(|_| index > 0) else {
            return Vec::new();
        };
        let class = &self.classes[*class];
        let context = match (class.source.as_str(), line) {
            ("", _) => String::new(),
            (source, 0) => format!(" {source}"),
            (source, line) => format!(" {source}:{line}"),
        };
        // The JDK's are not the program's.
        let mark = if IS_JDK.iter().any(|prefix| class.name.starts_with(prefix)) { "!" } else { "" };
        vec![Frame { site: format!("{mark}{}.{method}{context}", class.name), library: None }]
    }

    fn object(&mut self, address: u64, _size: u64) -> Option<Object> {
        if self.find(address).is_none() {
            self.read_objects();
        }
        let index = self.find(address)?;
        // Parents of classes may have come, too.
        self.read_text();
        let made = self.frames(self.known[index][2]).into_iter().next();
        let site = made.map(|frame| frame.site.trim_start_matches('!').to_owned()).unwrap_or_default();
        let [start, _, made] = self.known[index];
        let kept = usize::try_from(made).ok().and_then(|made| self.sites.get(made)).filter(|_| address == start);
        let kept = kept.map(|site| self.way(start, &site.kept)).unwrap_or_default();
        Some(Object { name: self.name(index, address), site, kept, made: Made::Object, size: 0 })
    }

    fn knows(&self, _address: u64) -> bool {
        true
    }

    fn modules(&self) -> Vec<Mapped> {
        Vec::new()
    }

    fn is_first_stack(&self, _address: u64) -> bool {
        false
    }

    fn context(&mut self, number: u32) -> Option<(u32, u64)> {
        if number == GUESSED {
            return Some((0, GUESSED.into()));
        }
        let (number, guessed) = (number & !GUESSED, number & GUESSED);
        let index = number.checked_sub(SITES)? as usize;
        if index >= self.contexts.len() {
            self.read_text();
        }
        // A caller has a lower number.
        let &(caller, site) = self.contexts.get(index)?;
        (caller < number).then_some((caller | guessed, site.into()))
    }

    fn notes(&mut self) -> Vec<String> {
        self.read_text();
        std::mem::take(&mut self.notes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn java(text: &str, objects: &[[u64; 3]]) -> Java {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("p-1-0");
        std::fs::write(folder.path().join("p-1-0.java"), text).expect("written");
        let bytes: Vec<u8> = objects.iter().flatten().flat_map(|word| word.to_ne_bytes()).collect();
        std::fs::write(folder.path().join("p-1-0.objects"), bytes).expect("written");
        Java::beside(&path)
    }

    #[test]
    fn things_have_the_names_of_the_source() {
        let text = "c\t0\tbank/Base\tBase.java\t0:a\t8:s\nc\t1\tbank/Account\tAccount.java\t0:balance\n\
                    c\t0\t[[I\t\nn\tsomething\ns\t2\tdeposit\t12\tbank/Bank.first\n";
        let mut java = java(text, &[[64, 2 << 32 | 3, 1], [128, 3 << 32 | 9, 0], [256, (1 | STATICS) << 32 | 2, 9]]);
        let mut name = |address| java.object(address, 8).map(|object| object.name);
        assert_eq!(name(64).as_deref(), Some("bank.Account@1"));
        assert_eq!(name(72).as_deref(), Some("bank.Base.a@1"));
        assert_eq!(name(88).as_deref(), Some("bank.Account.balance@1"));
        assert_eq!(name(96).as_deref(), Some("bank.Account@1~"));
        assert_eq!(name(104), None);
        assert_eq!(name(128).as_deref(), Some("int[][]@2"));
        assert_eq!(name(144).as_deref(), Some("int[][]@2[1]"));
        assert_eq!(name(256).as_deref(), Some("bank.Base.class"));
        assert_eq!(name(272).as_deref(), Some("bank.Base.s"));
        assert_eq!(java.frames(1), [Frame { site: "bank.Account.deposit Account.java:12".into(), library: None }]);
        assert_eq!(java.frames(2), []);
        assert_eq!(java.object(64, 8).map(|object| object.kept).as_deref(), Some("bank.Bank.first"));
        assert_eq!(java.object(72, 8).map(|object| object.kept).as_deref(), Some(""));
        let made = |java: &mut Java, address| java.object(address, 8).map(|object| object.site);
        assert_eq!(made(&mut java, 64).as_deref(), Some("bank.Account.deposit Account.java:12"));
        assert_eq!(made(&mut java, 128).as_deref(), Some(""));
        assert_eq!(java.notes(), ["something"]);
    }

    #[test]
    fn objects_are_reached_by_the_fields_of_their_owners() {
        let text = "c\t0\tMain\t\ns\t1\t<clinit>\t1\tMain.pool\ns\t1\trun\t2\tPool.queue\ns\t1\trun\t3\tp/Queue.lock\n\
                    s\t1\trun\t4\n\
                    o\t64\t0\t1\no\t128\t64\t2\no\t192\t128\t3\no\t256\t320\t2\no\t320\t256\t2\n\
                    o\t384\t448\t3\no\t192\t448\t2\no\t448\t0\t4\n";
        let objects: Vec<[u64; 3]> = (1..9).map(|number| [64 * number, 1 << 32, 3 * u64::from(number == 8)]).collect();
        let mut java = java(text, &objects);
        let mut way = |address| java.object(address, 8).map(|object| object.kept).unwrap_or_default();
        assert_eq!(way(64), "Main.pool");
        assert_eq!(way(128), "Main.pool.queue");
        assert_eq!(way(192), "Main.pool.queue.lock", "where it was put first");
        assert_eq!((way(256), way(320)), ("Pool.queue".to_owned(), "Pool.queue".to_owned()), "a circle");
        assert_eq!(way(384), "p.Queue.lock", "the owner is in no field");
        assert_eq!(way(512), "p.Queue.lock", "only the site says so");
    }

    #[test]
    fn guessed_stacks_say_so() {
        let text = "c\t0\tA\tA.java\ns\t1\trun\t3\ns\t1\twrite\t7\nk\t0\t1\nk\t1048576\t2\n";
        let mut java = java(text, &[]);
        let mut stack = |mut number: u32| {
            let mut names = Vec::new();
            while let Some((caller, site)) = java.context(number) {
                names.extend(java.frames(site).into_iter().map(|frame| frame.site));
                number = caller;
            }
            names
        };
        assert_eq!(SITES, 1 << 20);
        assert_eq!(stack(SITES + 1), ["A.write A.java:7", "A.run A.java:3"]);
        assert_eq!(stack(GUESSED | (SITES + 1)), ["A.write A.java:7", "A.run A.java:3", GUESS]);
        assert!(stack(GUESSED | 5).is_empty());
    }

    #[test]
    fn the_jdk_is_not_the_program() {
        let classes =
            ["java/util/HashMap", "org/w3c/dom/Node", "org/xml/sax/XMLReader", "netscape/javascript/JSObject"];
        let text = |(number, name): (usize, &&str)| format!("c\t0\t{name}\t\ns\t{}\trun\t0\n", number + 1);
        let lines: String = classes.iter().chain(&["org/example/Main", "netscapes/A"]).enumerate().map(text).collect();
        let mut java = java(&lines, &[]);
        let is_marked: Vec<bool> = (1..=6).map(|site| java.frames(site)[0].site.starts_with('!')).collect();
        assert_eq!(is_marked, [true, true, true, true, false, false]);
    }

    #[test]
    fn what_makes_no_sense_is_no_name() {
        let mut java = java("c\t9\t\ns\t7\nc\nx\n\tc\t", &[[64, u64::MAX, u64::MAX], [8, 0, 0], [u64::MAX, 1, 1]]);
        assert!(java.frames(u64::MAX).is_empty());
        assert!(java.object(72, 8).is_some_and(|object| object.name.contains('?')));
        assert!(java.object(8, 8).is_none());
    }
}
