//! Paths into variables: from a byte to `table[3].count`, and back.

use crate::dwarf::types::{Member, Type, ValueKind};
use crate::dwarf::{Debug, Die};
use crate::limits::{MAX_NAME_BYTES, MAX_TYPE_DEPTH};

/// What lies at some byte of a variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Leaf {
    /// What follows the variable's name.
    pub(crate) path: String,
    /// How far into the leaf the byte is.
    pub(crate) offset: u64,
    /// How large the leaf is; 0 if that is not known.
    pub(crate) size: u64,
    /// Whether it is a bit-field: others may have a part in its bytes.
    pub(crate) bits: bool,
}

/// The innermost part of a variable that contains a byte. Parts whose names are the library's own business
/// (`_M_impl`, `__data`) are not looked into: a mutex is a mutex.
pub(crate) fn leaf(debug: &mut Debug, type_of: Option<Die>, offset: u64) -> Leaf {
    let mut leaf = Leaf { path: String::new(), offset, size: debug.size_of(type_of), bits: false };
    // Whether the class we are in hides its one array, as `std::array` does.
    let mut hides_array = false;
    let mut at = type_of;
    // Where the parts that are shown end.
    let mut shown = leaf.clone();
    for _ in 0..MAX_TYPE_DEPTH {
        if leaf.path.len() > MAX_NAME_BYTES {
            break;
        }
        match &*debug.type_of(at) {
            Type::Array { element, counts } => {
                let size = debug.size_of(*element);
                if size == 0 || counts.is_empty() {
                    break;
                }
                let index = leaf.offset / size;
                let mut below: u64 = counts[1..].iter().fold(1, |n, count| n.saturating_mul(*count));
                let mut rest = index;
                for (k, _) in counts.iter().enumerate() {
                    leaf.path.push_str(&format!("[{}]", rest.checked_div(below).unwrap_or(0)));
                    rest = rest.checked_rem(below).unwrap_or(0);
                    below = below.checked_div(counts.get(k + 1).copied().unwrap_or(1)).unwrap_or(1).max(1);
                }
                (leaf.offset, leaf.size, at) = (leaf.offset % size, size, *element);
                shown = leaf.clone();
            }
            Type::Record { name, members, .. } => {
                hides_array |= name.starts_with("array<");
                let Some((member, size)) = member_at(debug, members, leaf.offset) else { break };
                (leaf.offset, leaf.size, at) = (leaf.offset - member.offset, size, member.type_of);
                if is_reserved(&member.name) {
                    if hides_array && matches!(&*debug.type_of(at), Type::Array { .. }) {
                        continue;
                    }
                    break;
                }
                if !member.name.is_empty() && !member.base {
                    leaf.path.push('.');
                    leaf.path.push_str(&member.name);
                    leaf.bits = member.bits.is_some();
                    shown = leaf.clone();
                    if member.bits.is_some() {
                        break;
                    }
                }
            }
            Type::Scalar { .. } => {
                shown = leaf.clone();
                break;
            }
            _ => break,
        }
    }
    shown
}

/// The first member that contains a byte, and its size.
fn member_at(debug: &mut Debug, members: &[Member], offset: u64) -> Option<(Member, u64)> {
    members.iter().filter(|m| m.offset <= offset).find_map(|member| {
        let size = member.bits.map_or_else(|| debug.size_of(member.type_of), |bits| bit_bytes(member.offset, bits));
        (offset - member.offset < size).then(|| (member.clone(), size))
    })
}

/// The bytes that a bit-field has a part in.
fn bit_bytes(offset: u64, (first, count): (u64, u64)) -> u64 {
    first.saturating_add(count).div_ceil(8).saturating_sub(offset).max(1)
}

/// Names that C and C++ keep for the compiler and its libraries.
fn is_reserved(name: &str) -> bool {
    let mut letters = name.chars();
    letters.next() == Some('_') && letters.next().is_some_and(|c| c == '_' || c.is_ascii_uppercase())
}

/// The shortest of the paths that lead to a leaf, and that do not lead to what lies right before it: it begins where
/// the leaf does. An array is passed over for its first element.
pub(crate) fn first_whole<'a>(leaf: &'a str, before: &str) -> &'a str {
    // A file's name stands before a `:`, and may have dots.
    let name = leaf.rfind(':').map_or(0, |at| at + 1);
    let steps = leaf[name..].match_indices(['.', '[']).map(|(at, _)| name + at).chain([leaf.len()]);
    for end in steps {
        let rest = before.strip_prefix(&leaf[..end]);
        let leads_before = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']));
        if !leads_before && !leaf[end..].starts_with('[') {
            return &leaf[..end];
        }
    }
    leaf
}

/// The part of a variable that a path names.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    pub(crate) type_of: Option<Die>,
    pub(crate) offset: u64,
    pub(crate) size: u64,
    /// Of a bit-field: its first bit in the first byte, and how many bits.
    pub(crate) bits: Option<(u64, u64)>,
}

/// Why a path leads nowhere.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Astray {
    pub(crate) why: String,
    /// What could have stood in the place of the step that failed: paths from the variable on.
    pub(crate) instead: Vec<String>,
}

/// Follows a path such as `.arr[3].f` from a variable.
pub(crate) fn follow(debug: &mut Debug, type_of: Option<Die>, path: &str) -> Result<Part, Astray> {
    let mut part = Part { type_of, offset: 0, size: debug.size_of(type_of), bits: None };
    let mut rest = path;
    // Dimensions of the array we are in that were not given an index yet.
    let mut open: Vec<u64> = Vec::new();
    let astray = |why: String, instead| Err(Astray { why, instead });
    for _ in 0..MAX_TYPE_DEPTH {
        if rest.is_empty() {
            return Ok(part);
        }
        let done = &path[..path.len() - rest.len()];
        let found = debug.type_of(part.type_of);
        if let Some(after) = rest.strip_prefix('[') {
            let Some((index, after)) = after.split_once(']') else {
                return astray(format!("`{rest}` lacks a `]`"), Vec::new());
            };
            let Ok(index) = index.trim().parse::<u64>() else {
                return astray(format!("`{index}` is not an index"), Vec::new());
            };
            let (element, counts) = match &*found {
                Type::Array { element, counts } => (*element, counts.clone()),
                // `std::array` hides its one array.
                Type::Record { members, .. } if members.len() == 1 => match &*debug.type_of(members[0].type_of) {
                    Type::Array { element, counts } => (*element, counts.clone()),
                    _ => return astray("it is not an array".to_owned(), vec![done.to_owned()]),
                },
                _ => return astray("it is not an array".to_owned(), vec![done.to_owned()]),
            };
            if open.is_empty() {
                open = counts;
            }
            let Some(count) = open.first().copied() else { return astray("it is not an array".to_owned(), Vec::new()) };
            // An open array (`int a[]`) has as many elements as its symbol says, which only the linker knows.
            if index >= count && count != 0 {
                let last = format!("{done}[{}]", count - 1);
                return astray(format!("it has {count} elements, from 0 on"), vec![last]);
            }
            open.remove(0);
            let below = open.iter().fold(debug.size_of(element), |n, count| n.saturating_mul(*count));
            part.offset = part.offset.saturating_add(index.saturating_mul(below));
            part.size = below;
            if open.is_empty() {
                part.type_of = element;
            }
            rest = after;
        } else if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            let name = &after[..end];
            let mut names = Vec::new();
            let Some(next) = member_named(debug, part.type_of, name, &mut names, 0) else {
                let why = match &*found {
                    Type::Record { .. } => format!("there is no member `{name}`"),
                    Type::Scalar { kind: ValueKind::Pointer, .. } => {
                        "it is a pointer; only what lies at a fixed address can be bound".to_owned()
                    }
                    Type::Array { .. } => "it is an array, and takes an index".to_owned(),
                    _ => "it has no members".to_owned(),
                };
                let instead = names.into_iter().map(|name| format!("{done}.{name}")).collect();
                return astray(why, instead);
            };
            part = Part { offset: part.offset.saturating_add(next.offset), ..next };
            rest = &after[end..];
        } else {
            return astray(format!("`{rest}` is neither `.member` nor `[index]`"), Vec::new());
        }
    }
    astray("the path is too long".to_owned(), Vec::new())
}

/// A member by its name, also through anonymous members and base classes. Collects the names there are.
fn member_named(
    debug: &mut Debug,
    type_of: Option<Die>,
    name: &str,
    names: &mut Vec<String>,
    depth: usize,
) -> Option<Part> {
    const MANY: usize = 1000;
    let found = debug.type_of(type_of);
    let Type::Record { members, .. } = &*found else { return None };
    for member in members {
        if names.len() > MANY {
            return None;
        }
        if member.name == name && !member.base {
            let size = debug.size_of(member.type_of);
            let size = member.bits.map_or(size, |bits| bit_bytes(member.offset, bits));
            let bits = member.bits.map(|(first, count)| (first.wrapping_sub(member.offset.wrapping_mul(8)), count));
            return Some(Part { type_of: member.type_of, offset: member.offset, size, bits });
        }
        if !member.name.is_empty() && !member.base {
            names.push(member.name.clone());
        } else if depth < 16 {
            names.push(String::new());
            let inner = member_named(debug, member.type_of, name, names, depth + 1);
            if let Some(part) = inner {
                return Some(Part { offset: part.offset.saturating_add(member.offset), ..part });
            }
        }
    }
    names.retain(|name| !name.is_empty() || depth > 0);
    None
}

#[cfg(test)]
mod tests {
    use super::first_whole;

    #[test]
    fn a_whole_begins_where_its_leaf_does() {
        assert_eq!(first_whole("bank.first.id", "other"), "bank");
        assert_eq!(first_whole("conns[1].pos.x", "conns[0].open"), "conns[1]");
        assert_eq!(first_whole("conns[0].fd", "other.x"), "conns[0]");
        assert_eq!(first_whole("main.c:conns[0].fd", ""), "main.c:conns[0]");
        assert_eq!(first_whole("grid[2][0]", "grid[1][3]"), "grid[2][0]");
        assert_eq!(first_whole("pair.second.x", "pair.first"), "pair.second");
        assert_eq!(first_whole("counter", "counters"), "counter");
        assert_eq!(first_whole("counter", ""), "counter");
    }
}
