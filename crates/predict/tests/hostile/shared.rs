//! What all attacks share: a question, and the answer of the predictor.

use event::{CausalityChoice, Id, Names, Space, Value, VarId};
use predict::{Options, Predictions, Predictor};
use property::check::{Settings, Spec, check_file};
use property::run::Outcome;
use property::steps::BoundSpec;
use property::syntax::{Loader, render};
use std::path::Path;
use trace::Trace;
use trace::text::TextReader;

struct Text<'a>(&'a str);

impl Loader for Text<'_> {
    fn load(&self, _path: &str) -> Result<Vec<u8>, String> {
        Ok(self.0.as_bytes().to_vec())
    }
}

/// The variables of all specifications here.
pub(crate) const NAMES: &str = "shared int x at trace \"x\"; shared int y at trace \"y\"; \
    lock l at trace \"l\"; lock m at trace \"m\"; \
     event go(id : int) at trace \"go\"; shared int a[i : int] at c a; ";

pub(crate) fn spec(body: &str) -> Spec {
    let text = format!("spec S {{ {NAMES} {body} }}");
    let mut checked = check_file("s.rvs", &Text(&text));
    assert!(!checked.has_errors(), "{}", render(&checked.diagnostics, &checked.sources, false));
    checked.specs.remove(0)
}

pub(crate) fn read(text: &str) -> Trace {
    Trace::read(&mut TextReader::new(text.as_bytes())).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

pub(crate) fn initial(trace: &Trace) -> Vec<Value> {
    let names: &Names = &trace.names;
    (0..names.space(Space::Var).len())
        .map(|x| {
            let name = names.var(VarId::from_index(x));
            trace
                .batch
                .inits
                .iter()
                .find(|init| names.str(init.name) == name)
                .map(|init| init.value)
                .unwrap_or_default()
        })
        .collect()
}

pub(crate) struct Answer {
    pub(crate) observed: Vec<Outcome>,
    pub(crate) predictions: Predictions,
    pub(crate) bound: BoundSpec,
}

pub(crate) fn ask(
    trace: &Trace,
    spec: &Spec,
    causality: impl Into<CausalityChoice>,
    window: Option<u64>,
    settings: Settings,
    options: Options<'_>,
) -> Answer {
    let (names, batch) = (&trace.names, &trace.batch);
    let settings = Settings { causality: Some(causality.into()), window, ..settings };
    let bound = BoundSpec::new(spec, settings, &[], Path::new(""), names, batch);
    let observed = bound.judge(0, names, batch, false).expect("a monitor");
    let values = initial(trace);
    let first = |var: VarId| values.get(var.index()).copied().unwrap_or(Value::Unknown);
    let predictor = Predictor::new(&bound, names, batch, &first, options);
    let predictions = predictor.predict_one(0, &observed).expect("a monitor");
    Answer { observed, predictions, bound }
}
