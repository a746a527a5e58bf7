//! Values as text: integers, reals that read back to the same bits, truth values and strings.

use super::escape;
use super::op::shown;
use event::Value;

/// A value in a line: strings are not interned before the whole line has been understood.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Literal<'a> {
    /// Anything but a string.
    Value(Value),
    /// The text between the quotes, with its (valid) escapes.
    Str(&'a str),
}

/// The value that the text begins with, and what follows it.
pub(super) fn scan(text: &str) -> Result<(Literal<'_>, &str), String> {
    if text.starts_with('"') {
        let length = escape::string_length(text)?;
        return Ok((Literal::Str(&text[1..length - 1]), &text[length..]));
    }
    let end = text.find(|c: char| matches!(c, '@' | ',' | ')') || c.is_whitespace()).unwrap_or(text.len());
    let (token, rest) = text.split_at(end);
    parse(token).map(|value| (Literal::Value(value), rest))
}

fn parse(token: &str) -> Result<Value, String> {
    match token {
        "" => return Err("a value is missing: an int, a real, `true`, `false` or a \"string\"".into()),
        "?" => return Ok(Value::Unknown),
        "true" => return Ok(Value::Bool(true)),
        "false" => return Ok(Value::Bool(false)),
        "NaN" => return Ok(Value::Real(f64::NAN)),
        "inf" => return Ok(Value::Real(f64::INFINITY)),
        "-inf" => return Ok(Value::Real(f64::NEG_INFINITY)),
        _ => {}
    }
    let digits = token.strip_prefix(['-', '+']).unwrap_or(token);
    if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
        return token.parse().map(Value::Int).map_err(|_| {
            format!("the integer {} does not fit 64 bits with a sign; a real is written `1e20`", shown(token))
        });
    }
    if let Some(bits) = token.strip_prefix("NaN:")
        && bits.len() == 16
        && let Ok(bits) = u64::from_str_radix(bits, 16)
        && f64::from_bits(bits).is_nan()
    {
        return Ok(Value::Real(f64::from_bits(bits)));
    }
    if token.bytes().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'e' | b'E' | b'+' | b'-'))
        && let Ok(real) = token.parse::<f64>()
    {
        if real.is_finite() {
            return Ok(Value::Real(real));
        }
        return Err(format!("the real {} is out of range; infinity is written `inf`", shown(token)));
    }
    Err(format!("{} is not a value: an int, a real, `true`, `false` or a \"string\"", shown(token)))
}

/// Writes a value; `text` gives the text of a string.
pub(super) fn write<'a>(out: &mut Vec<u8>, value: Value, text: impl FnOnce(event::StrId) -> &'a str) {
    match value {
        Value::Unknown => out.push(b'?'),
        Value::Bool(true) => out.extend_from_slice(b"true"),
        Value::Bool(false) => out.extend_from_slice(b"false"),
        Value::Int(int) => write_int(out, int),
        Value::Real(real) => write_real(out, real),
        Value::Str(id) => escape::write_string(out, text(id)),
    }
}

/// Writes an integer.
pub(super) fn write_int(out: &mut Vec<u8>, int: i64) {
    let mut digits = [0u8; 20];
    let mut at = digits.len();
    let mut rest = int.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if int < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

fn write_real(out: &mut Vec<u8>, real: f64) {
    let text = if real.is_nan() && real.to_bits() != f64::NAN.to_bits() {
        format!("NaN:{:016x}", real.to_bits())
    } else {
        // The shortest digits that read back to the same bits, never without a `.` or an `e`.
        format!("{real:?}")
    };
    out.extend_from_slice(text.as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back() {
        for (value, text) in [
            (Value::Unknown, "?"),
            (Value::Bool(true), "true"),
            (Value::Bool(false), "false"),
            (Value::Int(0), "0"),
            (Value::Int(-7), "-7"),
            (Value::Int(i64::MIN), "-9223372036854775808"),
            (Value::Int(i64::MAX), "9223372036854775807"),
            (Value::Real(1.0), "1.0"),
            (Value::Real(-0.0), "-0.0"),
            (Value::Real(0.1), "0.1"),
            (Value::Real(1e300), "1e300"),
            (Value::Real(5e-324), "5e-324"),
            (Value::Real(f64::MAX), "1.7976931348623157e308"),
            (Value::Real(f64::INFINITY), "inf"),
            (Value::Real(f64::NEG_INFINITY), "-inf"),
            (Value::Real(f64::NAN), "NaN"),
            (Value::Real(f64::from_bits(0xfff8_0000_0000_0001)), "NaN:fff8000000000001"),
        ] {
            let mut out = Vec::new();
            write(&mut out, value, |_| "");
            assert_eq!(str::from_utf8(&out), Ok(text));
            for rest in ["", "@acquire", ",2", ")", " y=1"] {
                assert_eq!(scan(&format!("{text}{rest}")), Ok((Literal::Value(value), rest)));
            }
        }
        assert_eq!(scan(r#""a\"),b",1"#), Ok((Literal::Str(r#"a\"),b"#), ",1")));
        assert_eq!(scan("+5"), Ok((Literal::Value(Value::Int(5)), "")));
        assert_eq!(scan("5E3"), Ok((Literal::Value(Value::Real(5000.0)), "")));
    }

    #[test]
    fn what_is_no_value() {
        for bad in ["", "-", "x", "True", "1e400", "9223372036854775808", "0x10", "nan", "NaN:0", "1.2.3", "--1", "\"a"]
        {
            assert!(scan(bad).is_err(), "{bad}");
        }
    }
}
