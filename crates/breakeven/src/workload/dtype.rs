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
    /// The type that people, NumPy, PyTorch and the data sheets call so; case does not count.
    ///
    /// ```
    /// use breakeven::workload::Dtype;
    /// assert_eq!(Dtype::named("float32"), Some(Dtype::F32));
    /// assert_eq!(Dtype::named("torch.bfloat16"), Some(Dtype::Bf16));
    /// assert_eq!(Dtype::named("np.float32"), Some(Dtype::F32));
    /// assert_eq!(Dtype::named("fp4"), None);
    /// ```
    pub fn named(name: &str) -> Option<Self> {
        let name = name.trim().to_ascii_lowercase();
        let bare = ["torch.", "numpy.", "np."].iter().find_map(|from| name.strip_prefix(from)).unwrap_or(&name);
        Some(match bare {
            "f64" | "fp64" | "float64" | "double" => Self::F64,
            "f32" | "fp32" | "float32" | "float" | "single" => Self::F32,
            "tf32" => Self::Tf32,
            "f16" | "fp16" | "float16" | "half" => Self::F16,
            "bf16" | "bfloat16" => Self::Bf16,
            "f8" | "fp8" | "float8" | "float8_e4m3" | "float8_e4m3fn" | "float8_e5m2" | "e4m3" | "e5m2" => Self::F8,
            "i64" | "int64" | "long" => Self::I64,
            "i32" | "int32" | "int" => Self::I32,
            "i16" | "int16" | "short" => Self::I16,
            "i8" | "int8" => Self::I8,
            "u64" | "uint64" => Self::U64,
            "u32" | "uint32" => Self::U32,
            "u16" | "uint16" => Self::U16,
            "u8" | "uint8" => Self::U8,
            "bool" => Self::Bool,
            "c64" | "complex64" => Self::C64,
            "c128" | "complex128" => Self::C128,
            _ => return None,
        })
    }

    /// How it is written: `f32`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::F64 => "f64",
            Self::F32 => "f32",
            Self::Tf32 => "tf32",
            Self::F16 => "f16",
            Self::Bf16 => "bf16",
            Self::F8 => "f8",
            Self::I64 => "i64",
            Self::I32 => "i32",
            Self::I16 => "i16",
            Self::I8 => "i8",
            Self::U64 => "u64",
            Self::U32 => "u32",
            Self::U16 => "u16",
            Self::U8 => "u8",
            Self::Bool => "bool",
            Self::C64 => "c64",
            Self::C128 => "c128",
            Self::Other => "other",
        }
    }

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
