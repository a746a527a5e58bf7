//! What an analysis says beside its findings, for the caller to show.

use property::syntax::{Diagnostic, Sources};

/// One message.
#[derive(Clone, Debug)]
pub enum Message {
    /// A line of text.
    Note(String),
    /// Remarks on a specification, with its sources.
    Diagnostics(Vec<Diagnostic>, Sources),
}

/// Messages in the order in which they came up.
#[derive(Default)]
pub(crate) struct Messages(Vec<Message>);

impl Messages {
    pub(crate) fn note(&mut self, text: String) {
        self.0.push(Message::Note(text));
    }

    pub(crate) fn diagnostics(&mut self, diagnostics: Vec<Diagnostic>, sources: &Sources) {
        if !diagnostics.is_empty() {
            self.0.push(Message::Diagnostics(diagnostics, sources.clone()));
        }
    }

    pub(crate) fn take(&mut self) -> Vec<Message> {
        std::mem::take(&mut self.0)
    }
}
