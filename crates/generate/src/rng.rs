//! Random draws that are the same on every machine.
//!
//! Floating point is used only for what IEEE 754 fixes to the bit (sums, products, quotients, comparisons), never
//! for a function of the platform's mathematical library.

/// Marsaglia's xorshift with Vigna's multiplier (xorshift64*).
#[derive(Clone, Debug)]
pub(crate) struct Rng(u64);

impl Rng {
    pub(crate) fn new(seed: u64) -> Rng {
        let mut rng = Rng((0x9E37_79B9_7F4A_7C15 ^ seed.wrapping_mul(0xD1B5_4A32_D192_ED03)) | 1);
        // Seeds that differ in few bits give states that differ in few bits; these draws spread them.
        for _ in 0..16 {
            rng.next();
        }
        rng
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        let mut x = self.0;
        x ^= x >> 12;
        x ^= x << 25;
        x ^= x >> 27;
        self.0 = x;
        x.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Uniform in `0.0..1.0`, a multiple of 2^-53.
    #[inline]
    pub(crate) fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }

    /// True with this probability: never for 0, always for 1.
    #[inline]
    pub(crate) fn chance(&mut self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// True once in `n` times.
    #[inline]
    pub(crate) fn one_in(&mut self, n: u32) -> bool {
        self.below(n) == 0
    }

    /// Uniform in `0..n`.
    #[inline]
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        ((u128::from(self.next()) * u128::from(n)) >> 64) as u32
    }

    /// In `0..n`, small numbers far more often than large ones, as popularity is distributed in programs.
    #[inline]
    pub(crate) fn skewed(&mut self, n: u32) -> u32 {
        let u = self.unit();
        ((u * u * u * f64::from(n)) as u32).min(n - 1)
    }
}

/// A geometric distribution on 1, 2, …: how many trials until the first success.
#[derive(Clone, Debug)]
pub(crate) struct Geometric {
    /// `survival[k]` is the probability that more than `k + 1` trials are needed; falls with k.
    survival: Vec<f64>,
    /// The table was cut: a draw below its last entry goes on with a fresh draw (the distribution has no memory).
    cut: bool,
}

impl Geometric {
    const LONGEST: usize = 4096;
    /// What is less likely than this never happens.
    const NEVER: f64 = 1e-12;

    /// The distribution with this mean, which is at least 1.
    pub(crate) fn new(mean: f64) -> Geometric {
        let failure = 1.0 - 1.0 / mean;
        let mut survival = Vec::new();
        let mut probability = failure;
        while probability >= Self::NEVER && survival.len() < Self::LONGEST {
            survival.push(probability);
            probability *= failure;
        }
        Geometric { cut: probability >= Self::NEVER, survival }
    }

    pub(crate) fn draw(&self, rng: &mut Rng) -> u64 {
        let mut base = 1;
        loop {
            let u = rng.unit();
            let failures = self.survival.partition_point(|&s| u <= s);
            base += failures as u64;
            if !self.cut || failures < self.survival.len() {
                return base;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn geometric_draws_have_the_mean_and_the_variance() {
        for mean in [1.0, 1.5, 8.0, 40.0, 5000.0] {
            let geometric = Geometric::new(mean);
            let mut rng = Rng::new(7);
            let n = 200_000;
            let draws: Vec<f64> = (0..n).map(|_| geometric.draw(&mut rng) as f64).collect();
            let average = draws.iter().sum::<f64>() / f64::from(n);
            let variance = draws.iter().map(|d| (d - average) * (d - average)).sum::<f64>() / f64::from(n);
            assert!((average - mean).abs() <= 0.02 * mean, "mean {mean}: {average}");
            let expected = mean * (mean - 1.0);
            assert!((variance - expected).abs() <= 0.05 * expected + 1e-9, "variance {expected}: {variance}");
        }
    }

    #[test]
    fn bounds_hold() {
        let mut rng = Rng::new(3);
        for n in [1, 2, 3, 1000, u32::MAX] {
            for _ in 0..1000 {
                assert!(rng.below(n) < n);
                assert!(rng.skewed(n) < n);
                assert!(rng.chance(1.0));
                assert!(!rng.chance(0.0));
            }
        }
    }
}
