//! Tables of kernels: a row of text names an op, its dims and its dtype; a row of the answer is a time on a device.
//!
//! [`Columns`] reads the header, [`Devices`] finds what is named, [`Row`] reads a row, [`timed`] is its time; [`answer`]
//! does all of it for rows in JSON. No file is opened here: whoever has the table (the command, the server) hands over
//! its cells.
//!
//! ```
//! use breakeven::{hardware::Catalogue, table::{Cell, Clock, Columns, Row, timed}};
//! let columns = Columns::read(["op", "b", "m", "n", "k"]).unwrap();
//! let cells = ["matmul", "1", "4096", "4096", "4096"].map(Cell::Text);
//! let row = Row::read(&columns, |i| cells[i]).unwrap();
//! let v100 = &Catalogue::embedded().gpu("v100-pcie-16gb").unwrap().device;
//! let time = timed(&row, v100, Clock::Device).unwrap();
//! assert!(time.time_us.p50 > 137.4e9 / 14e12 * 1e6); // never faster than 14 TFLOP/s
//! ```

mod answer;
mod columns;
mod devices;
mod events;
mod names;
mod row;
mod time;

#[cfg(test)]
mod tests;

pub use answer::{MOST_TIMES, answer};
pub use columns::{Columns, Dim, RESULTS};
pub use devices::Devices;
pub use names::{map, ops};
pub use row::{Cell, LARGEST_DIM, Row};
pub use time::{Clock, Timed, timed};
