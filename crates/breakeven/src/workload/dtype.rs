//! Element types.

use serde::{Deserialize, Serialize};

/// The type of an array's elements, as computed with. `Tf32` is stored as four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say it")]
pub enum Dtype {
    F64,
    F32,
    Tf32,
    F16,
    Bf16,
    F8,
    I64,
    I32,
    I16,
    I8,
    U64,
    U32,
    U16,
    U8,
    Bool,
    C64,
    C128,
    /// Strings, objects, records, long doubles: no GPU counterpart.
    Other,
}

impl Dtype {
    /// Bytes of one element as stored; `Other` counts as 8 where the true size is not recorded.
    pub const fn bytes(self) -> u64 {
        match self {
            Self::F64 | Self::I64 | Self::U64 | Self::C64 | Self::Other => 8,
            Self::F32 | Self::Tf32 | Self::I32 | Self::U32 => 4,
            Self::F16 | Self::Bf16 | Self::I16 | Self::U16 => 2,
            Self::F8 | Self::I8 | Self::U8 | Self::Bool => 1,
            Self::C128 => 16,
        }
    }

    /// Real operations per complex multiply-add relative to a real one (4), 1 for real types.
    pub const fn complex_factor(self) -> f64 {
        match self {
            Self::C64 | Self::C128 => 4.0,
            _ => 1.0,
        }
    }
}
