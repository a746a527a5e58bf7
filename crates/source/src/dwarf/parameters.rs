//! The parameters of a function, and where their values are when it is entered: before its first instruction.

use super::{Debug, Die};
use crate::dwarf::types::{Type, ValueKind};
use crate::image::Bytes;
use crate::limits::MAX_TYPE_DEPTH;
use gimli::{AttributeValue, Expression, Operation};

/// Where a value is when its function is entered.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Place {
    /// In the register of this number among those that pass whole numbers and pointers (rdi, rsi, rdx, rcx, r8, r9).
    Register(u8),
    /// In the vector register of this number.
    Vector(u8),
    /// So many bytes above the return address.
    Stack(i32),
    /// Nowhere: all calls have this value, and the compiler knows it.
    Constant(i32),
}

/// A parameter of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Parameter {
    /// Its name; empty if it has none.
    pub name: String,
    /// Whether it is the `this` of a member function, which the source does not count as an argument.
    pub is_this: bool,
    /// What its bytes mean.
    pub kind: ValueKind,
    /// How many bytes it has.
    pub size: u64,
    /// Of a pointer or reference: the names of the type it points to, as a typedef and by itself.
    pub pointee: Vec<String>,
    /// Whether it points to characters.
    pub is_text: bool,
    /// Where it is, or why that is not known.
    pub place: Result<Place, String>,
}

/// The DWARF numbers of the registers that pass whole numbers, in the order of the parameters.
const REGISTERS: [u16; 6] = [5, 4, 1, 2, 8, 9];
/// The DWARF number of the first vector register; eight of them pass values.
const FIRST_VECTOR: u16 = 17;
const VECTORS: u16 = 8;

/// More parameters are not looked at.
const MOST: usize = 64;

/// clang lets the first place of a parameter begin behind the instructions that save registers; they are shorter. If it
/// is also where the calling convention puts the parameter, it has been there all the time.
const PROLOGUE: u64 = 64;

/// No parameter is so far up the stack.
const FAR: i64 = 1 << 20;

/// What a location says, as far as it is of use at an entry.
enum Said {
    Place(Place),
    /// In the function's frame, so far from the address above the return address, if the frame is counted from there.
    Frame(i64),
    /// It is made of what is in this place.
    From(Place),
    Other,
}

impl Debug {
    /// The parameters of a function whose first instruction is at `low`, in order. `is_clone`: the compiler has made a
    /// copy of the function for some of its calls, which may have other parameters.
    pub(crate) fn parameters(&mut self, function: Die, low: u64, is_clone: bool) -> Vec<Parameter> {
        let own = self.children(function);
        let origin = self.entry(function).and_then(|entry| entry.attr_value(gimli::DW_AT_abstract_origin));
        let declared = match self.follow(function.unit, origin) {
            Some(origin) => self.children(origin),
            None => own.clone(),
        };
        let from_return = self.counts_from_return(function);
        let concrete: Vec<Option<Die>> = declared
            .iter()
            .map(|&declared| own.iter().copied().find(|&die| die == declared || self.origin_of(die) == Some(declared)))
            .collect();
        let mut conventional = self.conventional(function, &declared);
        if self.names_convention(function)
            || from_return
                && concrete.iter().zip(&conventional).any(|(die, usual)| self.contradicts(*die, usual.as_ref().ok()))
        {
            conventional.fill(Err(ALIEN.to_owned()));
        }
        let mut all = Vec::with_capacity(declared.len());
        for ((declared, concrete), conventional) in declared.into_iter().zip(concrete).zip(conventional) {
            let linked = self.linked(declared);
            let place = match concrete {
                Some(die) => self.place_at(die, low, conventional, is_clone, from_return),
                None => Err(GONE.to_owned()),
            };
            let place = place.map_err(|why| if is_clone { GONE.to_owned() } else { why });
            let (pointee, is_text) = self.pointee_names(linked.type_of);
            all.push(Parameter {
                name: linked.name.clone(),
                is_this: self.entry(declared).is_some_and(|entry| entry.attr(gimli::DW_AT_artificial).is_some()),
                kind: self.kind_of(linked.type_of),
                size: self.size_of(linked.type_of),
                pointee,
                is_text,
                place,
            });
        }
        all
    }

    /// The entries of the parameters below a function's.
    fn children(&self, function: Die) -> Vec<Die> {
        let mut found = Vec::new();
        let unit = self.unit_ref(function.unit);
        let Ok(mut entries) = unit.entries_raw(Some(function.offset)) else { return found };
        let mut entry = gimli::DebuggingInformationEntry::null();
        if entries.read_entry(&mut entry).is_err() {
            return found;
        }
        while !entries.is_empty() && entries.next_depth() > 0 && found.len() < MOST {
            let depth = entries.next_depth();
            let offset = entries.next_offset();
            match entries.read_entry(&mut entry) {
                Ok(true) if depth == 1 && entry.tag() == gimli::DW_TAG_formal_parameter => {
                    found.push(Die { unit: function.unit, offset });
                }
                Ok(_) => {}
                Err(_) => break,
            }
        }
        found
    }

    fn origin_of(&self, die: Die) -> Option<Die> {
        self.follow(die.unit, self.entry(die)?.attr_value(gimli::DW_AT_abstract_origin))
    }

    /// Where the calling convention puts the parameters of a function. It is not looked at how structures are passed,
    /// nor where what stands behind them comes to lie.
    fn conventional(&mut self, function: Die, declared: &[Die]) -> Vec<Result<Place, String>> {
        let (mut registers, mut vectors, mut stack) = (0u8, 0u8, 0i32);
        let result = self.linked(function).type_of;
        let mut lost = match &*self.type_of(result) {
            Type::Record { .. } if result.is_some() => Some("the function returns a structure".to_owned()),
            _ => None,
        };
        let mut places = Vec::with_capacity(declared.len());
        for &die in declared {
            let linked = self.linked(die);
            let size = self.size_of(linked.type_of);
            let kind = self.kind_of(linked.type_of);
            // A complex number is a scalar of two parts.
            let is_number = matches!(&*self.type_of(linked.type_of), Type::Scalar { .. })
                && kind != ValueKind::Aggregate
                && (1..=8).contains(&size);
            if !is_number && lost.is_none() {
                lost = Some(format!("`{}` is passed by value, and is no number or pointer", linked.name));
            }
            if let Some(why) = &lost {
                places.push(Err(format!("{why}; this compiler's -O1 may say more")));
                continue;
            }
            let is_float = kind == ValueKind::Float;
            let (count, most) = if is_float { (&mut vectors, VECTORS as u8) } else { (&mut registers, 6) };
            places.push(Ok(if *count < most {
                *count += 1;
                if is_float { Place::Vector(*count - 1) } else { Place::Register(*count - 1) }
            } else {
                stack += 8;
                Place::Stack(stack - 8)
            }));
        }
        places
    }

    /// Whether the debug information names another calling convention than the usual one (as clang's does).
    fn names_convention(&self, function: Die) -> bool {
        let origin = self.origin_of(function);
        [Some(function), origin].into_iter().flatten().filter_map(|die| self.entry(die)).any(|entry| {
            let named = entry.attr_value(gimli::DW_AT_calling_convention);
            named.is_some_and(|named| named != AttributeValue::CallingConvention(gimli::DW_CC_normal))
        })
    }

    /// Whether a parameter lies in its caller's frame, and not where the usual convention puts it there: callers of
    /// another one leave room for all parameters (`ms_abi`). The frame is counted from the return address.
    fn contradicts(&self, die: Option<Die>, usual: Option<&Place>) -> bool {
        let Some(entry) = die.and_then(|die| self.entry(die)) else { return false };
        let (Some(die), Some(AttributeValue::Exprloc(location))) = (die, entry.attr_value(gimli::DW_AT_location))
        else {
            return false;
        };
        match (self.said(die.unit, &location), usual) {
            (Said::Frame(above), Some(Place::Stack(usual))) => above >= 0 && above != i64::from(*usual),
            (Said::Frame(above), Some(_)) => above >= 0,
            _ => false,
        }
    }

    /// Whether the frame of a function is counted from the address above its return address.
    fn counts_from_return(&self, function: Die) -> bool {
        let base = self.entry(function).and_then(|entry| entry.attr_value(gimli::DW_AT_frame_base));
        let Some(AttributeValue::Exprloc(base)) = base else { return false };
        let mut operations = base.operations(self.unit_ref(function.unit).encoding());
        matches!(operations.next(), Ok(Some(Operation::CallFrameCFA))) && matches!(operations.next(), Ok(None))
    }

    fn place_at(
        &self,
        die: Die,
        low: u64,
        conventional: Result<Place, String>,
        is_clone: bool,
        from_return: bool,
    ) -> Result<Place, String> {
        let entry = self.entry(die).ok_or(GONE)?;
        let unit = self.unit_ref(die.unit);
        match entry.attr_value(gimli::DW_AT_location) {
            None => {
                let value = entry.attr(gimli::DW_AT_const_value).and_then(|value| value.sdata_value());
                let value = value.and_then(|value| i32::try_from(value).ok());
                value.map(Place::Constant).ok_or_else(|| GONE.to_owned())
            }
            // One place for the whole function: it is put there by the first instructions, from where callers put it.
            Some(AttributeValue::Exprloc(expression)) => match self.said(die.unit, &expression) {
                Said::Place(place) => Ok(place),
                Said::From(place) if conventional == Ok(place) => Ok(place),
                Said::Frame(_) if !is_clone => conventional,
                _ => Err(ELSEWHERE.to_owned()),
            },
            Some(list) => {
                let Ok(Some(mut list)) = unit.attr_locations(list) else { return Err(GONE.to_owned()) };
                let mut first: Option<(u64, Said)> = None;
                while let Ok(Some(one)) = list.next() {
                    if (low..low.saturating_add(PROLOGUE)).contains(&one.range.begin)
                        && one.range.begin < one.range.end
                        && first.as_ref().is_none_or(|(begin, _)| one.range.begin < *begin)
                    {
                        first = Some((one.range.begin, self.said(die.unit, &one.data)));
                    }
                }
                match first {
                    Some((begin, Said::Place(place))) if begin == low || conventional == Ok(place) => Ok(place),
                    Some((_, Said::From(place))) if conventional == Ok(place) => Ok(place),
                    Some((begin, Said::Frame(above))) if begin == low && from_return && (0..FAR).contains(&above) => {
                        Ok(Place::Stack(above as i32))
                    }
                    Some((_, Said::Frame(_))) if !is_clone && matches!(conventional, Ok(Place::Stack(_))) => {
                        conventional
                    }
                    _ => Err(ELSEWHERE.to_owned()),
                }
            }
        }
    }

    fn said(&self, unit: usize, expression: &Expression<Bytes>) -> Said {
        let mut operations = expression.clone().operations(self.unit_ref(unit).encoding());
        let (Ok(Some(first)), Ok(second)) = (operations.next(), operations.next()) else { return Said::Other };
        match (first, second) {
            (Operation::Register { register }, None) => register_place(register).map_or(Said::Other, Said::Place),
            (Operation::FrameOffset { offset }, None) => Said::Frame(offset),
            // In a register of the frame's: only the calling convention says where it comes from.
            (Operation::RegisterOffset { .. }, None) => Said::Frame(-1),
            // A part of a register.
            (Operation::RegisterOffset { register, offset: 0, .. }, Some(_)) => {
                register_place(register).map_or(Said::Other, Said::From)
            }
            (Operation::UnsignedConstant { value }, Some(Operation::StackValue)) => {
                i32::try_from(value).map_or(Said::Other, |value| Said::Place(Place::Constant(value)))
            }
            (Operation::SignedConstant { value }, Some(Operation::StackValue)) => {
                i32::try_from(value).map_or(Said::Other, |value| Said::Place(Place::Constant(value)))
            }
            _ => Said::Other,
        }
    }

    /// The names of the type that a pointer points to, and whether that is a character.
    fn pointee_names(&mut self, pointer: Option<Die>) -> (Vec<String>, bool) {
        let mut names = Vec::new();
        let mut at = pointer;
        let mut is_inside = false;
        for _ in 0..MAX_TYPE_DEPTH {
            let Some(die) = at else { break };
            let Some(entry) = self.entry(die) else { break };
            let tag = entry.tag();
            let inner = self.follow(die.unit, entry.attr_value(gimli::DW_AT_type));
            let points = matches!(
                tag,
                gimli::DW_TAG_pointer_type | gimli::DW_TAG_reference_type | gimli::DW_TAG_rvalue_reference_type
            );
            if is_inside {
                let linked = self.linked(die);
                names.extend(linked.qualified.clone());
                if !linked.name.is_empty() {
                    names.push(linked.name.clone());
                }
                if tag == gimli::DW_TAG_base_type {
                    let encoding = entry.attr_value(gimli::DW_AT_encoding);
                    let is_char = matches!(
                        encoding,
                        Some(AttributeValue::Encoding(gimli::DW_ATE_signed_char | gimli::DW_ATE_unsigned_char))
                    );
                    names.dedup();
                    return (names, is_char);
                }
                if points {
                    break;
                }
            }
            is_inside |= points;
            at = inner;
        }
        names.dedup();
        (names, false)
    }
}

/// The place that a register is, if it passes parameters.
fn register_place(register: gimli::Register) -> Option<Place> {
    if let Some(number) = REGISTERS.iter().position(|known| *known == register.0) {
        return Some(Place::Register(number as u8));
    }
    let vector = register.0.checked_sub(FIRST_VECTOR).filter(|number| *number < VECTORS)?;
    Some(Place::Vector(vector as u8))
}

/// Why a parameter cannot be had.
const GONE: &str = "the compiler has removed it from the function (which `__attribute__((noipa))`, or a use of it that \
                    the compiler cannot see through, prevents)";
const ELSEWHERE: &str = "the debug information does not say where it is when the function is entered";
const ALIEN: &str = "the function has another calling convention than the usual one (as by `__attribute__((ms_abi))`), \
                     and the debug information does not say where it is when the function is entered";
