//! The JSON spelling of a causality model.

use event::Causality;
use serde::{Deserialize, Deserializer, Serializer, de};
use std::borrow::Cow;

pub(crate) fn serialize<S: Serializer>(model: &Causality, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(model.text())
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Causality, D::Error> {
    let text = Cow::<str>::deserialize(deserializer)?;
    Causality::parse(&text).ok_or_else(|| de::Error::custom(format!("there is no causality model `{text}`")))
}
