//! The keys of a level, in any of the widths.

use crate::key::Key;
use crate::layout::Layout;

/// The keys of a level.
#[derive(Clone)]
pub(crate) enum Keys {
    W64(Vec<u64>),
    W128(Vec<u128>),
    W256(Vec<[u64; 4]>),
    W1024(Vec<[u64; 16]>),
    W4096(Vec<[u64; 64]>),
}

/// Evaluates an expression with the keys as a vector of their type, which it can call `$k`.
macro_rules! with_keys {
    ($keys:expr, $k:ident: $name:ident => $e:expr) => {
        match $keys {
            Keys::W64($name) => {
                type $k = u64;
                $e
            }
            Keys::W128($name) => {
                type $k = u128;
                $e
            }
            Keys::W256($name) => {
                type $k = [u64; 4];
                $e
            }
            Keys::W1024($name) => {
                type $k = [u64; 16];
                $e
            }
            Keys::W4096($name) => {
                type $k = [u64; 64];
                $e
            }
        }
    };
}
pub(crate) use with_keys;

/// A key type that [`Keys`] has a variant for.
pub(crate) trait Wide: Key {
    fn wrap(keys: Vec<Self>) -> Keys;
}

macro_rules! wide {
    ($($t:ty => $v:ident),*) => {$(
        impl Wide for $t {
            fn wrap(keys: Vec<Self>) -> Keys {
                Keys::$v(keys)
            }
        }
    )*};
}
wide!(u64 => W64, u128 => W128, [u64; 4] => W256, [u64; 16] => W1024, [u64; 64] => W4096);

impl Keys {
    /// Only the cut that is the base of the layout.
    pub(crate) fn base() -> Keys {
        Keys::W64(vec![0])
    }

    /// No keys, of this width.
    fn empty(bits: u32, capacity: usize) -> Keys {
        match bits {
            64 => Keys::W64(Vec::with_capacity(capacity)),
            128 => Keys::W128(Vec::with_capacity(capacity)),
            256 => Keys::W256(Vec::with_capacity(capacity)),
            1024 => Keys::W1024(Vec::with_capacity(capacity)),
            _ => Keys::W4096(Vec::with_capacity(capacity)),
        }
    }

    pub(crate) fn len(&self) -> usize {
        with_keys!(self, _K: keys => keys.len())
    }

    pub(crate) fn unpack(&self, at: usize, layout: &Layout, cut: &mut Vec<u32>) {
        with_keys!(self, _K: keys => layout.unpack(keys[at], cut));
    }

    /// Packs the cuts for another layout.
    pub(crate) fn repacked(&self, old: &Layout, new: &Layout) -> Keys {
        let mut keys = Keys::empty(new.bits, self.len());
        let mut cut = Vec::new();
        for at in 0..self.len() {
            self.unpack(at, old, &mut cut);
            cut.resize(cut.len().max(new.base.len()), 0);
            with_keys!(&mut keys, K: keys => {
                keys.push(new.pack::<K>(&cut).expect("the layout was made for these cuts"));
            });
        }
        keys
    }

    /// By cut: whether it is a subset of the cut `bound`.
    pub(crate) fn within(&self, layout: &Layout, bound: &[u32]) -> Vec<bool> {
        let mut cut = Vec::new();
        let is_within = |at| {
            self.unpack(at, layout, &mut cut);
            (0..).zip(&cut).all(|(chain, count)| *count <= bound.get(chain as usize).copied().unwrap_or(0))
        };
        (0..self.len()).map(is_within).collect()
    }

    pub(crate) fn retain(&mut self, keep: &[bool]) {
        let mut keep = keep.iter();
        with_keys!(self, _K: keys => keys.retain(|_| *keep.next().expect("one for each cut")));
    }

    /// The position of a cut.
    pub(crate) fn find(&self, cut: &[u32], layout: &Layout) -> Option<usize> {
        with_keys!(self, K: keys => keys.binary_search(&layout.pack::<K>(cut)?).ok())
    }

    pub(crate) fn bytes(&self) -> usize {
        with_keys!(self, K: keys => keys.capacity() * size_of::<K>())
    }

    /// By chain: the least and the greatest number of events that a cut has of it.
    pub(crate) fn extent(&self, layout: &Layout) -> (Vec<u32>, Vec<u32>) {
        let mut least = vec![u32::MAX; layout.fields.len()];
        let mut most = vec![0; layout.fields.len()];
        with_keys!(self, _K: keys => {
            for &key in keys {
                for ((field, least), most) in layout.fields.iter().zip(&mut least).zip(&mut most) {
                    let ahead = key.field(field.shift, field.mask);
                    *least = ahead.min(*least);
                    *most = ahead.max(*most);
                }
            }
        });
        let (mut low, mut high) = (layout.base.clone(), layout.base.clone());
        for ((field, least), most) in layout.fields.iter().zip(least).zip(most) {
            low[field.chain as usize] += least;
            high[field.chain as usize] += most;
        }
        (low, high)
    }
}
