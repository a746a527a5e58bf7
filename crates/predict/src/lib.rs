//! Properties on the runs that did not happen: their steps on the lattice of a causality model, with checked witnesses.
