//! The fitted and the assumed numbers of the model, as text tables beside this file.

use crate::workload::Family;
use crate::{Error, Result};
use std::sync::LazyLock;

macro_rules! constants {
    ($($name:ident),* $(,)?) => {
        /// One number for each row of `constants.csv`, which says unit, range and origin.
        #[derive(Clone, Debug, PartialEq)]
        #[expect(missing_docs, reason = "constants.csv explains each")]
        pub struct Constants { $(pub $name: f64,)* pub spread: [Spread; Family::COUNT] }

        impl Constants {
            /// The rows that `constants.csv` must have.
            pub const NAMES: &'static [&'static str] = &[$(stringify!($name)),*];

            /// The constant of that name, to be changed by a fit.
            pub fn get_mut(&mut self, name: &str) -> Option<&mut f64> {
                match name {
                    $(stringify!($name) => Some(&mut self.$name),)*
                    _ => None,
                }
            }

            /// The numbers of [`lean_constants`], by place.
            fn in_order(mut numbers: impl Iterator<Item = f64>) -> Option<Self> {
                Some(Constants { $($name: numbers.next()?,)* ..BLANK })
            }
        }

        const BLANK: Constants = Constants { $($name: f64::NAN,)* spread: [Spread { shared: f64::NAN, own: f64::NAN, short: f64::NAN }; Family::COUNT] };
    };
}
constants! {
    floor_us, stream_share, stream_share_early, stream_share_plain, stream_share_corrected, boost_beyond, stream_share_amd, l2_bytes_per_clock, l2_stream_bytes, l2_reach, l2_reach_amd, energy_vector, energy_tensor, floor_work,
    least_voltage, f8_energy, i8_energy, gemm_share_vector, gemm_issue, gemm_share_tensor, gemm_share_amd, gemm_share_amd_single, gemm_batch_amd, gemm_edge, gemm_edge_tensor, gemm_wave,
    gemm_wave_tensor, gemm_wave_fetched, gemm_lone, gemm_fill_vector, gemm_end_cycles, gemm_tile_us, gemm_tile_us_tensor, gemm_wait_tensor, gemm_wait_fetched, gemm_reload, gemm_draw, gemm_serial,
    gemm_serial_tensor,
    gemm_ragged, gemm_early, library_year, gemm_far, gemm_far_late, gemm_step_cycles, gemm_step_fetched, conv_share_early, conv_back, conv_back_point, conv_start_us, conv_back_turned, conv_points,
    conv_turned, conv_turn_cycles, conv_fill, conv_fill_us, conv_edge_late, conv_wait_cycles, conv_sum_cycles, conv_tile_cycles, conv_back_strided, depthwise_forward, depthwise_data, depthwise_weight, depthwise_tap,
    depthwise_weight_tap, depthwise_block, depthwise_cudnn, depthwise_cudnn_tap, winograd_share, winograd_back, winograd_fused_share, winograd_transform,
    winograd_filter, winograd_fused_filter, attention_share, map_share, map_share_amd, map_threads, map_threads_recent, rowwise_share, rowwise_elements, softmax_again, softmax_cycles, norm_row_kib,
    norm_cycles, strided_share, strided_rows, radix_us, fft_share, gather_sector, panel_us, together,
}

/// How far times of one family are off: standard deviations of ln(time).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Common to all kernels of the family on one device.
    pub shared: f64,
    /// Of each kernel alone.
    pub own: f64,
    /// How much less certain a GPU's shortest kernels are than its long ones: start, clocks and what the caches hold
    /// weigh more. A factor 1 + `short` × √(smallest time ÷ time) on both.
    pub short: f64,
}

#[cfg(not(any(feature = "lean-catalogue", feature = "described-ports")))]
const TABLE: &str = include_str!("constants.csv");
#[cfg(any(feature = "lean-catalogue", feature = "described-ports"))]
const TABLE: &str = include_str!("../../../../target/page/constants.txt");

/// The numbers of `constants.csv` alone, in the order of [`Constants::NAMES`]; a test has held them to their ranges.
/// `lean-catalogue` embeds them.
pub fn lean_constants() -> String {
    let mut shipped = Constants::shipped().clone();
    let number = |name: &&str| shipped.get_mut(name).map_or(f64::NAN, |number| *number).to_string();
    Constants::NAMES.iter().map(number).collect::<Vec<_>>().join("\n")
}

static SHIPPED: LazyLock<Constants> = LazyLock::new(|| {
    let lean = cfg!(any(feature = "lean-catalogue", feature = "described-ports"));
    let read = if lean { Constants::read_lean } else { Constants::read };
    read(TABLE, include_str!("spread.csv")).expect("tested: the shipped tables read")
});

impl Constants {
    /// The tables that ship.
    pub fn shipped() -> &'static Self {
        &SHIPPED
    }

    /// Changes whenever a shipped table does (FNV-1a of both texts, 16 hexadecimal digits): the ledger of errors names the
    /// tables that it was made with.
    pub fn fingerprint() -> String {
        let texts = [include_str!("constants.csv"), include_str!("spread.csv")];
        let bytes = texts.iter().flat_map(|text| text.bytes());
        let hash =
            bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3));
        format!("{hash:016x}")
    }

    /// Reads `constants.csv` and `spread.csv`.
    ///
    /// # Errors
    /// `kernel-constants` where a row is missing, unknown, not a number or outside its own range: the range keeps the
    /// model's laws.
    pub fn read(constants: &str, spread: &str) -> Result<Self> {
        let mut read = BLANK;
        for row in csv::Reader::from_reader(constants.as_bytes()).records() {
            let row = row.map_err(|e| bad(e.to_string()))?;
            let name = row.get(0).unwrap_or_default();
            let value = number(&row, 1)?;
            let [low, high] = [number(&row, 2)?, number(&row, 3)?];
            if !(low <= value && value <= high) {
                return Err(bad(format!("`{name}` is {value}; allowed is {low} to {high}")));
            }
            *read.get_mut(name).ok_or_else(|| bad(format!("`{name}` is not a constant of the model")))? = value;
        }
        let missing = Self::NAMES.iter().find(|name| read.get_mut(name).is_none_or(|v| v.is_nan()));
        match missing {
            Some(name) => Err(bad(format!("no row for `{name}`"))),
            None => read.with_spread(spread),
        }
    }

    /// Reads [`lean_constants`] and `spread.csv`.
    fn read_lean(constants: &str, spread: &str) -> Result<Self> {
        let numbers = constants.lines().map_while(|line| line.parse().ok());
        Self::in_order(numbers).ok_or_else(|| bad("a number is missing".into()))?.with_spread(spread)
    }

    fn with_spread(mut self, spread: &str) -> Result<Self> {
        for row in csv::Reader::from_reader(spread.as_bytes()).records() {
            let row = row.map_err(|e| bad(e.to_string()))?;
            let spread = Spread { shared: number(&row, 1)?, own: number(&row, 2)?, short: number(&row, 3)? };
            if !(spread.shared > 0.0 && spread.own > 0.0 && spread.shared < 3.0 && spread.own < 3.0) {
                return Err(bad(format!("spread of `{}` is outside 0 to 3", &row[0])));
            }
            if !(0.0..=32.0).contains(&spread.short) {
                return Err(bad(format!("`short` of `{}` is outside 0 to 32", &row[0])));
            }
            let family = &row[0];
            let mut known = false;
            for (i, &f) in Family::ALL.iter().enumerate() {
                if f.name() == family || (family == "other" && self.spread[i].own.is_nan()) {
                    self.spread[i] = spread;
                    known = true;
                }
            }
            if !known {
                return Err(bad(format!("`{family}` is not a family")));
            }
        }
        // That of a routine comes of its parts.
        if self.spread[Family::Routine as usize].own.is_nan() {
            self.spread[Family::Routine as usize] = self.spread[Family::View as usize];
        }
        match self.spread.iter().any(|s| s.own.is_nan()) {
            true => Err(bad("a family has no spread".into())),
            false => Ok(self),
        }
    }
}

fn number(row: &csv::StringRecord, column: usize) -> Result<f64> {
    let text = row.get(column).unwrap_or_default();
    text.parse()
        .ok()
        .filter(|v: &f64| v.is_finite())
        .ok_or_else(|| bad(format!("`{text}` in the row of `{}` is not a number", row.get(0).unwrap_or_default())))
}

fn bad(message: String) -> Error {
    Error::new("kernel-constants", message)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lean_table_is_the_same_constants() {
        assert_eq!(&Constants::read_lean(&lean_constants(), include_str!("spread.csv")).unwrap(), Constants::shipped());
    }

    #[test]
    fn the_shipped_tables_read() {
        assert!(Constants::shipped().floor_us >= 1.0);
    }

    #[test]
    fn a_value_outside_its_range_is_refused() {
        let text = include_str!("constants.csv").replace("stream_share,0", "stream_share,7");
        let error = Constants::read(&text, include_str!("spread.csv")).unwrap_err();
        assert!(error.message.contains("stream_share"), "{error}");
    }

    #[test]
    fn a_missing_row_is_named() {
        let error = Constants::read("name,value,low,high\nfloor_us,2,1,10\n", include_str!("spread.csv")).unwrap_err();
        assert_eq!(error.message, "no row for `stream_share`");
    }
}
