//! The search for violations, model by model.

use crate::predictor::{Predictions, Predictor};
use property::run::{NoMonitor, Outcome};

pub(crate) fn search(_of: &Predictor<'_>, _property: usize, _observed: &[Outcome]) -> Result<Predictions, NoMonitor> {
    Ok(Predictions::default())
}
