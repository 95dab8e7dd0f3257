//! A node with the arrays that it reads, and what is known of it: the arrays that it makes, and its work.

use super::array::Array;
use super::proto::{Attribute, Graph, Node};
use breakeven::lower::{ArrayRef, Call as Lowering, lower};
use breakeven::workload::{Dtype, Op};

/// A node and what it reads.
#[derive(Debug)]
pub(super) struct Call<'a> {
    pub(super) node: &'a Node,
    /// `None` for what is left out, and for what nothing is known of.
    pub(super) inputs: Vec<Option<Array>>,
    /// Version of the operators.
    pub(super) opset: i64,
}

/// What a node does.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Work {
    /// Memory under another name or shape.
    View,
    /// Kernels, one after the other, each with its type.
    Kernels(Vec<(Op, Dtype)>),
    /// Array work without a formula.
    Unknown,
}

/// What a node makes.
#[derive(Clone, Debug)]
pub(super) struct Made {
    /// By output; `None` where its shape does not follow.
    pub(super) outputs: Vec<Option<Array>>,
    pub(super) work: Work,
}

impl Made {
    pub(super) fn one(output: Array, op: Op) -> Self {
        let dtype = output.dtype;
        Self::of(vec![output], op, dtype)
    }

    pub(super) fn of(outputs: Vec<Array>, op: Op, dtype: Dtype) -> Self {
        Self { outputs: outputs.into_iter().map(Some).collect(), work: Work::Kernels(vec![(op, dtype)]) }
    }

    pub(super) fn view(output: Array) -> Self {
        Self { outputs: vec![Some(output)], work: Work::View }
    }
}

impl Call<'_> {
    /// An input that has to be there.
    pub(super) fn input(&self, place: usize) -> Option<&Array> {
        self.inputs.get(place)?.as_ref()
    }

    /// Whether an input is named at all.
    pub(super) fn has(&self, place: usize) -> bool {
        self.node.inputs.get(place).is_some_and(|name| !name.is_empty())
    }

    pub(super) fn gives(&self, place: usize) -> bool {
        self.node.outputs.get(place).is_some_and(|name| !name.is_empty())
    }

    pub(super) fn int(&self, name: &str) -> Option<i64> {
        match self.node.attributes.get(name)? {
            Attribute::Int(n) => Some(*n),
            _ => None,
        }
    }

    pub(super) fn ints(&self, name: &str) -> Option<&[i64]> {
        match self.node.attributes.get(name)? {
            Attribute::Ints(list) => Some(list),
            _ => None,
        }
    }

    pub(super) fn text(&self, name: &str) -> &str {
        match self.node.attributes.get(name) {
            Some(Attribute::Text(text)) => text,
            _ => "",
        }
    }

    pub(super) fn graph(&self, name: &str) -> Option<&Graph> {
        match self.node.attributes.get(name)? {
            Attribute::Graph(graph) => Some(graph),
            _ => None,
        }
    }

    /// Whole numbers of an attribute (older versions) or of an input (newer ones).
    pub(super) fn ints_or_input(&self, name: &str, place: usize) -> Option<Vec<i64>> {
        self.ints(name).map(<[i64]>::to_vec).or_else(|| self.input(place)?.ints())
    }

    /// The work that a function of another library's is on the same arrays: the engine's formulas by its name.
    pub(super) fn as_function(&self, name: &str, keywords: &[(&str, &str)], outputs: Vec<Array>) -> Made {
        let own = |array: &Array| ArrayRef::new(array.dtype, &array.dims);
        let inputs: Vec<ArrayRef> = self.inputs.iter().flatten().map(own).collect();
        let made: Vec<ArrayRef> = outputs.iter().map(own).collect();
        let lowered = lower(&Lowering { name, inputs: &inputs, outputs: &made, keywords, scalar_result: false });
        let work = match lowered.op {
            Op::Opaque | Op::HostOnly => Work::Unknown,
            Op::View => Work::View,
            op => Work::Kernels(vec![(op, lowered.dtype)]),
        };
        Made { outputs: outputs.into_iter().map(Some).collect(), work }
    }
}
