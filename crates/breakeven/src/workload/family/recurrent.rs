//! One direction of one layer of a recurrent network: at each step the input and the state of the step before meet the
//! weights of every gate (Hochreiter & Schmidhuber 1997; Cho et al. 2014), and with a projection the cell's output meets
//! that (Sak et al. 2014). Only these products are counted, of gradients those in the data and in the weights; what the
//! cell does element by element is not. Bytes are those of inputs, states and weights once.

use super::{Need, Pass};
use crate::workload::op::Cell;
use crate::workload::{Dtype, Op};

/// Sizes of a layer.
#[derive(Clone, Copy)]
pub(crate) struct Dims {
    pub(crate) cell: Cell,
    pub(crate) steps: f64,
    /// Steps of all sequences together.
    pub(crate) rows: f64,
    pub(crate) input: f64,
    pub(crate) hidden: f64,
    /// Width of what is fed back where it is not `hidden`, else 0.
    pub(crate) projection: f64,
}

impl Dims {
    /// Those of a recurrent op; of any other nothing to do.
    pub(crate) fn of(op: &Op) -> Self {
        match *op {
            Op::Recurrent { cell, steps, rows, input, hidden, projection, .. } => Self {
                cell,
                steps: steps as f64,
                rows: rows as f64,
                input: input as f64,
                hidden: hidden as f64,
                projection: projection as f64,
            },
            _ => Self { cell: Cell::Rnn, steps: 0.0, rows: 0.0, input: 0.0, hidden: 0.0, projection: 0.0 },
        }
    }

    /// Columns of the weights: the states of all gates.
    pub(crate) fn gates(&self) -> f64 {
        self.hidden * self.cell.gates()
    }

    /// Width of what is fed back.
    pub(crate) fn state(&self) -> f64 {
        if self.projection > 0.0 { self.projection } else { self.hidden }
    }
}

impl Cell {
    /// How many gates have weights of their own.
    pub(crate) const fn gates(self) -> f64 {
        match self {
            Self::Rnn => 1.0,
            Self::Gru => 3.0,
            Self::Lstm => 4.0,
        }
    }
}

pub(super) fn need(d: &Dims, pass: Pass, dtype: Dtype) -> Need {
    let passes = if pass == Pass::Backward { 2.0 } else { 1.0 };
    let weights = d.gates() * (d.input + d.state()) + d.hidden * d.projection;
    let flop = 2.0 * d.rows * weights * dtype.complex_factor();
    let elements = d.rows * (d.input + d.state()) + weights;
    Need { flop: passes * flop, bytes: passes * elements * dtype.bytes() as f64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LSTM: Dims = Dims { cell: Cell::Lstm, steps: 7.0, rows: 21.0, input: 16.0, hidden: 32.0, projection: 0.0 };

    /// 7 steps of 3 sequences, 16 features, 32 states, 4 gates.
    #[test]
    fn inputs_and_states_meet_the_weights_of_all_gates() {
        let forward = need(&LSTM, Pass::Forward, Dtype::F32);
        assert_eq!(forward.flop, 2.0 * 21.0 * 128.0 * 48.0);
        assert_eq!(forward.bytes, 4.0 * (21.0 * 48.0 + 128.0 * 48.0));
        assert_eq!(need(&LSTM, Pass::Backward, Dtype::F32).flop, 2.0 * forward.flop);
        let gru = Dims { cell: Cell::Gru, ..LSTM };
        assert_eq!(need(&gru, Pass::Forward, Dtype::F32).flop, 2.0 * 21.0 * 96.0 * 48.0);
    }

    #[test]
    fn a_projection_narrows_the_state() {
        let projected = Dims { projection: 8.0, ..LSTM };
        assert_eq!(need(&projected, Pass::Forward, Dtype::F32).flop, 2.0 * 21.0 * (128.0 * 24.0 + 32.0 * 8.0));
    }
}
