//! Nodes that ONNX Runtime makes one of before it runs them on a GPU, as far as its default level does so for any model:
//!
//! | nodes | become | by |
//! |---|---|---|
//! | Conv, BatchNormalization | Conv with other weights | ConvBNFusion |
//! | Conv, Add or Mul of a constant | Conv with other weights | ConvAddFusion, ConvMulFusion |
//! | Conv, (Add,) Relu | FusedConv | ConvActivationFusion |
//! | MatMul, Add of a constant | Gemm | MatMulAddFusion |
//! | Div, Erf, Add, Mul, Mul | Gelu | GeluFusion |
//! | Add, LayerNormalization | SkipLayerNormalization | SkipLayerNormFusion |
//!
//! What is fused for networks of one kind alone (attention of BERT and its like) is not: nodes stay apart.

use super::call::Work;
use super::step::Step;
use breakeven::workload::Op;
use std::collections::{HashMap, HashSet};

struct Fusion<'o> {
    steps: Vec<Option<Step>>,
    makers: HashMap<String, usize>,
    users: HashMap<String, Vec<usize>>,
    /// Results of the model.
    outputs: &'o HashSet<&'o str>,
}

/// The steps as they are run; `outputs` are the names of the model's results.
pub(super) fn fused(steps: Vec<Step>, outputs: &HashSet<&str>) -> Vec<Step> {
    let (mut makers, mut users) = (HashMap::new(), HashMap::<String, Vec<usize>>::new());
    for (at, step) in steps.iter().enumerate() {
        step.outputs.iter().for_each(|name| {
            makers.insert(name.clone(), at);
        });
        step.inputs.iter().for_each(|name| users.entry(name.clone()).or_default().push(at));
    }
    let mut fusion = Fusion { steps: steps.into_iter().map(Some).collect(), makers, users, outputs };
    for at in 0..fusion.steps.len() {
        match fusion.function(at) {
            "onnx.Conv" => fusion.convolution(at),
            "onnx.MatMul" => fusion.bias(at),
            "onnx.Erf" => fusion.gelu(at),
            "onnx.LayerNormalization" => fusion.skip(at),
            _ => {}
        }
    }
    fusion.steps.into_iter().flatten().collect()
}

impl Fusion<'_> {
    fn function(&self, at: usize) -> &str {
        self.steps.get(at).and_then(Option::as_ref).map_or("", |step| step.function.as_str())
    }

    /// The only step that reads the first result of another, where nothing else needs it.
    fn follows(&self, at: usize) -> Option<usize> {
        let step = self.steps[at].as_ref()?;
        let name = step.outputs.first()?;
        let users = self.users.get(name)?;
        let [user] = users[..] else { return None };
        (!self.outputs.contains(name.as_str()) && self.steps[user].as_ref()?.times == step.times).then_some(user)
    }

    /// Whether all that a step reads beside `own` is the same in each run.
    fn is_with_constant(&self, at: usize, own: usize) -> bool {
        let (Some(step), Some(from)) = (&self.steps[at], &self.steps[own]) else { return false };
        let own: u64 = if step.inputs.iter().any(|name| from.outputs.contains(name)) { from.written } else { 0 };
        step.fresh <= own
    }

    /// Makes the step at `next` part of the one at `at`.
    fn take(&mut self, at: usize, next: usize) {
        let (Some(taken), Some(step)) = (self.steps[next].take(), self.steps[at].as_mut()) else { return };
        // What is read beside the result that is passed on.
        step.read = step.read.saturating_add(taken.read.saturating_sub(step.written));
        step.fresh = step.fresh.saturating_add(taken.fresh.saturating_sub(step.written));
        step.inputs.extend(taken.inputs.into_iter().filter(|name| !step.outputs.contains(name)));
        step.outputs.clone_from(&taken.outputs);
        step.written = taken.written;
        taken.outputs.into_iter().for_each(|name| {
            self.makers.insert(name, at);
        });
    }

    fn convolution(&mut self, at: usize) {
        while let Some(next) = self.follows(at) {
            let folded = match self.function(next) {
                "onnx.BatchNormalization" => true,
                "onnx.Add" | "onnx.Mul" => self.is_with_constant(next, at),
                _ => false,
            };
            if !folded {
                break;
            }
            self.take(at, next);
        }
        let Some(next) = self.follows(at) else { return };
        if self.function(next) == "onnx.Add" && self.is_last_maker(next, at) {
            if let Some(last) = self.follows(next).filter(|&last| self.function(last) == "onnx.Relu") {
                self.take(at, next);
                self.take(at, last);
                self.rename(at, "onnx.microsoft.FusedConv");
            }
        } else if self.function(next) == "onnx.Relu" {
            self.take(at, next);
            self.rename(at, "onnx.microsoft.FusedConv");
        }
    }

    /// Whether everything else that a step reads is there before `at` runs.
    fn is_last_maker(&self, step: usize, at: usize) -> bool {
        let inputs = self.steps[step].as_ref().map_or(&[][..], |step| &step.inputs);
        inputs.iter().all(|name| self.makers.get(name).is_none_or(|&maker| maker <= at))
    }

    fn rename(&mut self, at: usize, function: &str) {
        if let Some(step) = &mut self.steps[at] {
            step.function = function.to_owned();
        }
    }

    fn bias(&mut self, at: usize) {
        let Some(next) = self.follows(at).filter(|&next| self.function(next) == "onnx.Add") else { return };
        if !self.is_with_constant(next, at) {
            return;
        }
        self.take(at, next);
        self.rename(at, "onnx.Gemm");
        if let Some(Step { work: Work::Kernels(kernels), .. }) = &mut self.steps[at]
            && let Some((Op::Matmul { bias, .. }, _)) = kernels.first_mut()
        {
            *bias = true;
        }
    }

    /// `0.5 x (1 + erf(x / √2))`, its factors in any order.
    fn gelu(&mut self, at: usize) {
        let first = self.steps[at].as_ref().and_then(|step| self.makers.get(step.inputs.first()?).copied());
        let scales = |at: usize| matches!(self.function(at), "onnx.Div" | "onnx.Mul");
        let Some(first) = first.filter(|&first| scales(first) && self.follows(first) == Some(at)) else { return };
        let Some(sum) = self.follows(at).filter(|&sum| self.function(sum) == "onnx.Add") else { return };
        let Some(product) = self.follows(sum).filter(|&product| self.function(product) == "onnx.Mul") else { return };
        let half = self
            .follows(product)
            .filter(|&half| self.function(half) == "onnx.Mul" && self.is_with_constant(half, product));
        let chain: Vec<usize> = [Some(at), Some(sum), Some(product), half].into_iter().flatten().collect();
        let cost = |at: &usize| match self.steps[*at].as_ref().and_then(Step::op) {
            Some(Op::Elementwise { flop_per_element, .. }) => *flop_per_element,
            _ => 0.0,
        };
        let all: f64 = chain.iter().map(cost).sum();
        for &next in &chain {
            self.take(first, next);
        }
        self.rename(first, "onnx.Gelu");
        if let Some(step) = &mut self.steps[first] {
            step.read = step.written;
            if let Work::Kernels(kernels) = &mut step.work
                && let Some((Op::Elementwise { inputs, flop_per_element, transcendental, .. }, _)) = kernels.first_mut()
            {
                (*inputs, *transcendental) = (1, true);
                *flop_per_element += all;
            }
        }
    }

    /// A sum of two arrays alike that is normalised next; it may be read again.
    fn skip(&mut self, at: usize) {
        let Some(step) = &self.steps[at] else { return };
        let sum = step.inputs.first().and_then(|name| self.makers.get(name).copied());
        let Some(sum) = sum.filter(|&sum| self.function(sum) == "onnx.Add") else { return };
        let Some(added) = self.steps[sum].as_ref() else { return };
        if added.fresh != added.written.saturating_mul(2) || added.times != step.times {
            return;
        }
        // The norm runs where the sum did: what else it reads is constant.
        let Some(mut norm) = self.steps[at].take() else { return };
        let Some(added) = self.steps[sum].take() else { return };
        norm.read = norm.read.saturating_add(added.written);
        norm.written = norm.written.saturating_add(added.written);
        norm.inputs.extend(added.inputs);
        norm.outputs.extend(added.outputs);
        norm.function = "onnx.microsoft.SkipLayerNormalization".to_owned();
        norm.outputs.iter().for_each(|name| {
            self.makers.insert(name.clone(), sum);
        });
        self.steps[sum] = Some(norm);
    }
}
