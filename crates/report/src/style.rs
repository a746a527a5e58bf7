//! Colours, as plain ANSI escapes; the only place that writes an escape sequence.

use crate::Status;
use std::borrow::Cow;

#[derive(Clone, Copy)]
pub(crate) struct Style {
    pub(crate) color: bool,
}

impl Style {
    fn wrap<'a>(self, code: &str, text: &'a str) -> Cow<'a, str> {
        if self.color { Cow::Owned(format!("\x1b[{code}m{text}\x1b[0m")) } else { Cow::Borrowed(text) }
    }

    pub(crate) fn bold(self, text: &str) -> Cow<'_, str> {
        self.wrap("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> Cow<'_, str> {
        self.wrap("2", text)
    }

    pub(crate) fn good(self, text: &str) -> Cow<'_, str> {
        self.wrap("32", text)
    }

    pub(crate) fn caution(self, text: &str) -> Cow<'_, str> {
        self.wrap("33", text)
    }

    pub(crate) fn bad(self, text: &str) -> Cow<'_, str> {
        self.wrap("1;31", text)
    }

    pub(crate) fn status(self, status: Status) -> Cow<'static, str> {
        match status {
            Status::Confirmed | Status::Observed | Status::Predicted => self.wrap("1;31", status.text()),
            Status::Warning => self.wrap("33", status.text()),
        }
    }
}

/// The text in bold, if colours are used.
pub fn bold(text: &str, color: bool) -> Cow<'_, str> {
    Style { color }.bold(text)
}
