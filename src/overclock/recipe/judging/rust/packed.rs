/// What may be observed or done, by element: a number below `n`, or an array of numbers between two bounds.
#[derive(Clone, Debug, PartialEq)]
pub enum Space {
    Discrete(i64),
    Box { shape: Vec<usize>, low: Vec<f64>, high: Vec<f64> },
}

impl Space {
    /// A box with one axis.
    pub fn vector(low: &[f64], high: &[f64]) -> Self {
        Space::Box { shape: vec![low.len()], low: low.to_vec(), high: high.to_vec() }
    }

    /// How many numbers one value has.
    pub fn len(&self) -> usize {
        match self {
            Space::Discrete(_) => 1,
            Space::Box { shape, .. } => shape.iter().product(),
        }
    }
}

/// What crosses the border to Python: little-endian bytes without gaps.
pub trait Packed: Copy + Send + Sync {
    const BYTES: usize;
    fn pack(&self, into: &mut [u8]);
    fn unpack(from: &[u8]) -> Self;
}

/// A number, by the name that NumPy has for it.
pub trait Number: Packed + Default {
    const NAME: &'static str;
    fn to_f64(self) -> f64;
}

macro_rules! numbers {
    ($($kind:ty: $name:literal),*) => {$(
        impl Packed for $kind {
            const BYTES: usize = std::mem::size_of::<$kind>();
            fn pack(&self, into: &mut [u8]) {
                into.copy_from_slice(&self.to_le_bytes());
            }
            fn unpack(from: &[u8]) -> Self {
                let mut bytes = [0; std::mem::size_of::<$kind>()];
                bytes.copy_from_slice(from);
                Self::from_le_bytes(bytes)
            }
        }
        impl Number for $kind {
            const NAME: &'static str = $name;
            fn to_f64(self) -> f64 {
                self as f64
            }
        }
    )*};
}
numbers!(f32: "float32", f64: "float64", i8: "int8", i16: "int16", i32: "int32", i64: "int64");
numbers!(u8: "uint8", u16: "uint16", u32: "uint32", u64: "uint64");

impl Packed for bool {
    const BYTES: usize = 1;
    fn pack(&self, into: &mut [u8]) {
        into[0] = u8::from(*self);
    }
    fn unpack(from: &[u8]) -> Self {
        from[0] != 0
    }
}

impl Number for bool {
    const NAME: &'static str = "bool";
    fn to_f64(self) -> f64 {
        f64::from(u8::from(self))
    }
}

impl<T: Packed, const N: usize> Packed for [T; N] {
    const BYTES: usize = N * T::BYTES;
    fn pack(&self, into: &mut [u8]) {
        for (index, value) in self.iter().enumerate() {
            value.pack(&mut into[index * T::BYTES..(index + 1) * T::BYTES]);
        }
    }
    fn unpack(from: &[u8]) -> Self {
        std::array::from_fn(|index| T::unpack(&from[index * T::BYTES..(index + 1) * T::BYTES]))
    }
}

/// An action: `i64` of a discrete space, `[f32; N]` or `[f64; N]` of a box with N numbers.
pub trait Action: Packed {
    /// NumPy's name of its numbers.
    const NAME: &'static str;
    /// What `sample` chooses from.
    type Range: Copy + Sync;
    fn range(space: &Space) -> Self::Range;
    /// Some action, for measuring speed.
    fn sample(range: &Self::Range, rng: Rng) -> Self;
}

impl Action for i64 {
    const NAME: &'static str = "int64";
    type Range = u32;
    fn range(space: &Space) -> u32 {
        match space {
            Space::Discrete(n) => *n as u32,
            Space::Box { .. } => 1,
        }
    }
    #[inline]
    fn sample(range: &u32, rng: Rng) -> Self {
        i64::from(rng.integers(0, *range))
    }
}

macro_rules! continuous_actions {
    ($($kind:ty: $uniform:ident),*) => {$(
        impl<const N: usize> Action for [$kind; N] {
            const NAME: &'static str = <$kind as Number>::NAME;
            type Range = [($kind, $kind); N];
            fn range(space: &Space) -> Self::Range {
                match space {
                    Space::Discrete(_) => [(0.0, 0.0); N],
                    // Unbounded sides are cut where most actions lie.
                    Space::Box { low, high, .. } => std::array::from_fn(|index| {
                        (low[index].max(-1e3) as $kind, high[index].min(1e3) as $kind)
                    }),
                }
            }
            #[inline]
            fn sample(range: &Self::Range, rng: Rng) -> Self {
                std::array::from_fn(|index| rng.$uniform(index as u32, range[index].0, range[index].1))
            }
        }
    )*};
}
continuous_actions!(f32: uniform_f32, f64: uniform_f64);

macro_rules! packed {
    ($name:ident { $($field:ident: $kind:ty),* }) => {
        impl Packed for $name {
            const BYTES: usize = 0 $(+ <$kind as Packed>::BYTES)*;
            fn pack(&self, _into: &mut [u8]) {
                let mut _at = 0;
                $(
                    self.$field.pack(&mut _into[_at.._at + <$kind as Packed>::BYTES]);
                    _at += <$kind as Packed>::BYTES;
                )*
            }
            fn unpack(_from: &[u8]) -> Self {
                let mut _at = 0;
                Self { $($field: {
                    let start = _at;
                    _at += <$kind as Packed>::BYTES;
                    <$kind as Packed>::unpack(&_from[start.._at])
                }),* }
            }
        }
    };
}
