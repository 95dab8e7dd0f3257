//! Training and inference of a transformer with so many parameters, as eager PyTorch runs it.

use super::super::kind::precision_name;
use super::shape::Shape;
use super::{Asked, Described, entry, on_device, optional, part, program_of, read_back, whole};
use crate::estimate::Note;
use crate::quantity::Measure;
use crate::report::words;
use crate::request::Kind;
use crate::workload::op::Rowwise;
use crate::workload::{Dtype, Entry, Op, Pass, Phase, Step};
use crate::{Error, Result};
use std::collections::BTreeMap;

/// Tokens of a sequence in training unless given.
const CONTEXT: f64 = 2048.0;
/// Bytes of a token as it is copied to the device, a 64-bit number.
const TOKEN: f64 = 8.0;
/// What PyTorch's modules, autograd and bindings take on the host before each op, ns: assumed, as seen in recordings of
/// small networks.
const GAP_FORWARD: u64 = 8_000;
const GAP_BACKWARD: u64 = 4_000;

/// Lines of the program, and what they stand for.
const LINES: [&str; 4] =
    ["logits = network(tokens)", "loss.backward()", "optimizer.step()", "token = network(token, cache)"];

/// The answer's program: `parameters` with `tokens` (training, or inference if `kind` says so), or with `context` and
/// `new_tokens` (inference).
pub(super) fn network(asked: &Asked) -> Result<Described> {
    let n = asked.numbers;
    let parameters = part(&n.parameters, "parameters")?;
    let generates = n.new_tokens.is_some() || (n.context.is_some() && n.tokens.is_none());
    let kind = asked.given.kind.unwrap_or(if generates { Kind::Inference } else { Kind::Training });
    let network = Network {
        shape: Shape::of(parameters),
        parameters,
        dtype: asked.dtype,
        context: optional(&n.context, "context", CONTEXT)?,
        batch: optional(&n.batch, "batch", 1.0)?,
        checkpointing: n.checkpointing,
    };
    match kind {
        Kind::Training if n.new_tokens.is_some() => Err(Error::new("contradiction", "training makes no new tokens")
            .hint("leave `new_tokens` out, or say `--kind inference`")
            .field("new_tokens")),
        Kind::Training => Ok(network.training(part(&n.tokens, "tokens").map_err(missing)?)),
        Kind::Inference => {
            let passes = match &n.tokens {
                Some(_) => part(&n.tokens, "tokens")? / (network.context * network.batch),
                None => 1.0,
            };
            let new_tokens = if n.new_tokens.is_some() { part(&n.new_tokens, "new_tokens")? } else { 0.0 };
            Ok(network.inference(passes.ceil(), new_tokens))
        }
        Kind::Simulation | Kind::Array => {
            Err(Error::new("contradiction", "`parameters` are of a network, which is trained or used")
                .hint("`--kind training` or `--kind inference`")
                .field("kind"))
        }
    }
}

fn missing(error: Error) -> Error {
    let hint = "`--tokens 1B` for training; `--context 2048 --new-tokens 200` for inference";
    if error.code == "incomplete-size" { error.hint(hint) } else { error }
}

/// One network and the batches that it is given.
struct Network {
    shape: Shape,
    parameters: f64,
    dtype: Dtype,
    /// Tokens of a sequence.
    context: f64,
    /// Sequences at a time.
    batch: f64,
    checkpointing: bool,
}

impl Network {
    fn training(&self, tokens: f64) -> Described {
        let rows = (self.context * self.batch).min(tokens);
        let steps = whole((tokens / rows).ceil().max(1.0));
        let sequences = (rows / self.context).max(1.0);
        let forward = self.forward(0, rows, sequences, self.context.min(rows), self.context.min(rows));
        let mut step = Round::of(&forward, Phase::Forward);
        if self.checkpointing {
            let layers = forward.iter().filter(|op| op.count > 1);
            let again: Vec<Entry> = layers.map(|op| Entry { site: 1, ..op.clone() }).collect();
            step.extend(&again, Phase::Backward);
        }
        step.extend(&forward.iter().flat_map(gradient).collect::<Vec<_>>(), Phase::Backward);
        let n = self.parameters;
        let adam = Op::Elementwise { n: whole(n), inputs: 4, flop_per_element: 12.0, transcendental: false };
        step.extend(&[entry(2, "aten._fused_adamw", adam, self.dtype, 3.0 * n * self.width())], Phase::Optimizer);
        let rounds = [(steps, step)];
        let memory = self.training_memory(rows, self.checkpointing);
        let each = format!("{} of {} tokens", words::several(steps, "step", "steps"), words::count(whole(rows)));
        let kept = if self.checkpointing { ", with activation checkpointing" } else { "" };
        let text = format!(
            "asked by size: training of a transformer of {} in {each}{kept}, weights, gradients and AdamW's two states \
             in {}",
            self.described(),
            precision_name(self.dtype)
        );
        let others = [
            ("--checkpointing", self.checkpointing, total(&self.training_memory(rows, true))),
            ("--precision bf16", self.width() <= 2.0, total(&self.in_half().training_memory(rows, self.checkpointing))),
            (
                "both together",
                self.checkpointing || self.width() <= 2.0,
                total(&self.in_half().training_memory(rows, true)),
            ),
        ];
        self.described_as(&rounds, (TOKEN * tokens, 4.0), memory, text, &others)
    }

    fn inference(&self, passes: f64, new_tokens: f64) -> Described {
        let rows = self.context * self.batch;
        let prefill = self.forward(0, rows, self.batch, self.context, self.context);
        let kept = self.context + new_tokens / 2.0;
        let decode = self.forward(3, self.batch, self.batch, 1.0, kept);
        let parts = [(whole(passes), prefill), (whole(new_tokens * passes), decode)];
        let parts = parts.map(|(times, ops)| (times, Round::of(&ops, Phase::Forward)));
        let memory = self.inference_memory(rows, new_tokens);
        let generated = if new_tokens > 0.0 {
            format!(
                ", then {} new tokens one by one, which read all weights and the KV cache each",
                words::count(whole(new_tokens))
            )
        } else {
            String::new()
        };
        let text = format!(
            "asked by size: inference by a transformer of {} in {}, {} × {} tokens at once{generated}",
            self.described(),
            precision_name(self.dtype),
            words::count(whole(self.batch)),
            words::count(whole(self.context)),
        );
        let others =
            [("--precision bf16", self.width() <= 2.0, total(&self.in_half().inference_memory(rows, new_tokens)))];
        let read = TOKEN * self.batch * new_tokens.max(1.0);
        self.described_as(&parts, (TOKEN * rows * passes, read), memory, text, &others)
    }

    /// Rounds, each as often as said, between a copy of so many bytes to the GPU and one back.
    fn described_as(
        &self,
        rounds: &[(u64, Round)],
        (copied, read): (f64, f64),
        memory: BTreeMap<String, u64>,
        text: String,
        others: &[(&str, bool, f64)],
    ) -> Described {
        let mut ops = Vec::new();
        let mut order = vec![Step::Run(0)];
        for (times, round) in rounds.iter().filter(|(times, _)| *times > 0) {
            order.push(Step::Repeat(*times, round.steps(1 + ops.len(), whole(self.shape.layers))));
            ops.extend(round.times(*times));
        }
        order.push(Step::Run(1 + ops.len() as u32));
        ops.push(read_back(0, read));
        let mut workload = program_of("pytorch", &LINES, on_device(0, copied, ops), total(&memory));
        workload.order = order;
        workload.program.peak_roles = memory;
        let mut least = workload.program.peak_bytes as f64;
        let mut less = Vec::new();
        for (what, already, bytes) in others {
            if !already && *bytes < 0.98 * least {
                less.push(format!("{} with {what}", words::memory(*bytes)));
                least = *bytes;
            }
        }
        let mut notes = vec![Note::new("by-size", text)];
        if !less.is_empty() {
            notes.push(Note::new("less-memory", format!("it would need {}", less.join(", "))));
        }
        Described { workload, notes, parameters: Some(self.parameters) }
    }

    fn described(&self) -> String {
        let s = &self.shape;
        format!(
            "{} parameters ({} layers of width {})",
            Measure::Count.format(self.parameters),
            words::count(whole(s.layers)),
            words::count(whole(s.width))
        )
    }

    fn width(&self) -> f64 {
        self.dtype.bytes() as f64
    }

    fn in_half(&self) -> Self {
        Self { shape: self.shape, dtype: Dtype::Bf16, ..*self }
    }

    /// Ops of one pass of `rows` tokens: `sequences` with `queries` tokens each, which attend to `keys`.
    fn forward(&self, site: u32, rows: f64, sequences: f64, queries: f64, keys: f64) -> Vec<Entry> {
        let (s, w) = (&self.shape, self.width());
        let layers = whole(s.layers);
        let product = |n: f64, k: f64, count: u64| {
            let op = Op::Matmul { m: whole(rows), n: whole(n), k: whole(k), batch: 1, bias: false };
            Entry { count, ..entry(site, "aten.mm", op, self.dtype, rows * n * w) }
        };
        let row_wise = |name, kind, width: f64, count| {
            let op = Op::Rowwise { kind, pass: Pass::Forward, rows: whole(rows), width: whole(width) };
            Entry { count, ..entry(site, name, op, self.dtype, rows * width * w) }
        };
        let map = |name, width: f64, inputs, flop: f64, count| {
            let op =
                Op::Elementwise { n: whole(rows * width), inputs, flop_per_element: flop, transcendental: flop > 2.0 };
            Entry { count, ..entry(site, name, op, self.dtype, rows * width * w) }
        };
        let attention = Op::Attention {
            pass: Pass::Forward,
            batch: whole(sequences),
            heads: whole(s.heads),
            q_len: whole(queries),
            kv_len: whole(keys),
            head_dim: whole(s.width / s.heads),
            causal: queries > 1.0,
        };
        let embedding =
            Op::Embedding { pass: Pass::Forward, n: whole(rows), width: whole(s.width), table: whole(s.vocabulary) };
        let attention =
            entry(site, "aten._scaled_dot_product_flash_attention", attention, self.dtype, rows * s.width * w);
        vec![
            entry(site, "aten.embedding", embedding, self.dtype, rows * s.width * w),
            row_wise("aten.native_layer_norm", Rowwise::LayerNorm, s.width, 2 * layers),
            product(3.0 * s.width, s.width, layers),
            Entry { count: layers, ..attention },
            product(s.width, s.width, layers),
            product(s.hidden, s.width, layers),
            map("aten.gelu", s.hidden, 1, 8.0, layers),
            product(s.width, s.hidden, layers),
            map("aten.add", s.width, 2, 1.0, 2 * layers),
            product(s.vocabulary, s.width, 1),
            row_wise("aten._log_softmax", Rowwise::LogSoftmax, s.vocabulary, 1),
        ]
    }

    /// Weights, gradients, two states of AdamW, and what the backward pass needs of the forward one: of each layer the
    /// inputs of its products, norms and GELU, with checkpointing its input alone; or, where that is more, what the update
    /// of all parameters needs.
    fn training_memory(&self, rows: f64, checkpointing: bool) -> BTreeMap<String, u64> {
        let (s, n, w) = (&self.shape, self.parameters, self.width());
        let layer = rows * w * (9.0 * s.width + 2.0 * s.hidden);
        let layers = if checkpointing { layer + s.layers * rows * w * s.width } else { s.layers * layer };
        // Logits, their logarithms and the gradient of these.
        let logits = 3.0 * rows * s.vocabulary * w;
        // AdamW goes over lists of tensors, and at one point has one more number for each parameter.
        let (activations, updates) = (layers + logits, n * w);
        let fullest = if activations > updates { ("activation", activations) } else { ("temporary", updates) };
        let fixed = [("parameter", n * w), ("gradient", n * w), ("optimizer state", 2.0 * n * w)];
        roles(&[&fixed[..], &[fullest]].concat())
    }

    /// Weights, keys and values of all tokens, and the largest layer's own.
    fn inference_memory(&self, rows: f64, new_tokens: f64) -> BTreeMap<String, u64> {
        let (s, n, w) = (&self.shape, self.parameters, self.width());
        let cache = 2.0 * s.layers * s.width * w * (rows + self.batch * new_tokens);
        let layer = rows * w * (2.0 * s.width + 2.0 * s.hidden.max(3.0 * s.width)).max(2.0 * s.vocabulary);
        roles(&[("parameter", n * w), ("KV cache", cache), ("activation", layer)])
    }
}

fn roles(parts: &[(&str, f64)]) -> BTreeMap<String, u64> {
    parts.iter().map(|(role, bytes)| ((*role).to_owned(), whole(*bytes))).collect()
}

fn total(memory: &BTreeMap<String, u64>) -> f64 {
    memory.values().map(|&bytes| bytes as f64).sum()
}

/// The ops of one round over a batch, with the host's time before each.
struct Round(Vec<Entry>);

impl Round {
    fn of(ops: &[Entry], phase: Phase) -> Self {
        let mut round = Self(Vec::new());
        round.extend(ops, phase);
        round
    }

    fn extend(&mut self, ops: &[Entry], phase: Phase) {
        let gap = if phase == Phase::Forward { GAP_FORWARD } else { GAP_BACKWARD };
        let op = |op: &Entry| Entry { gap_ns: gap * op.count, phase: Some(phase), ..op.clone() };
        self.0.extend(ops.iter().map(op));
    }

    /// In the order of a round, layer by layer, entries numbered from `first` on.
    fn steps(&self, first: usize, layers: u64) -> Vec<Step> {
        let mut steps = Vec::new();
        let numbered: Vec<(u32, u64)> = (first as u32..).zip(self.0.iter().map(|op| op.count)).collect();
        for block in numbered.chunk_by(|a, b| (a.1 >= layers) == (b.1 >= layers)) {
            let rounds = if block[0].1 >= layers { layers } else { 1 };
            for _ in 0..rounds {
                let each = block.iter().flat_map(|&(entry, count)| (0..count / rounds).map(move |_| Step::Run(entry)));
                steps.extend(each);
            }
        }
        steps
    }

    /// The ops of so many rounds.
    fn times(&self, times: u64) -> impl Iterator<Item = Entry> {
        let of = move |op: &Entry| Entry {
            count: op.count.saturating_mul(times),
            gap_ns: op.gap_ns.saturating_mul(times),
            ..op.clone()
        };
        self.0.iter().map(of)
    }
}

/// What the backward pass does for an op of the forward pass.
fn gradient(op: &Entry) -> Vec<Entry> {
    let written = op.written_bytes as f64;
    let of = |name: &str, gradient: Op, written: f64| {
        vec![Entry { count: op.count, ..entry(1, name, gradient, op.dtype, written) }]
    };
    match op.op {
        Op::Matmul { m, n, k, batch, bias } => {
            let w = op.dtype.bytes() as f64;
            let product = |m, n, k| Op::Matmul { m, n, k, batch, bias };
            let data = of(&op.name, product(m, k, n), m as f64 * k as f64 * w);
            [data, of(&op.name, product(k, n, m), k as f64 * n as f64 * w)].concat()
        }
        Op::Attention { batch, heads, q_len, kv_len, head_dim, causal, .. } => of(
            "aten._scaled_dot_product_flash_attention_backward",
            Op::Attention { pass: Pass::Backward, batch, heads, q_len, kv_len, head_dim, causal },
            3.0 * written,
        ),
        Op::Rowwise { kind, rows, width, .. } => {
            let name = match kind {
                Rowwise::LogSoftmax => "aten._log_softmax_backward_data",
                _ => "aten.native_layer_norm_backward",
            };
            of(name, Op::Rowwise { kind, pass: Pass::Backward, rows, width }, written)
        }
        Op::Elementwise { n, flop_per_element, .. } if op.name == "aten.gelu" => {
            let twice = 2.0 * flop_per_element;
            of(
                "aten.gelu_backward",
                Op::Elementwise { n, inputs: 2, flop_per_element: twice, transcendental: true },
                written,
            )
        }
        Op::Embedding { n, width, table, .. } => of(
            "aten.embedding_dense_backward",
            Op::Embedding { pass: Pass::Backward, n, width, table },
            table as f64 * width as f64 * op.dtype.bytes() as f64,
        ),
        // The gradient of a residual's sum is the same for both, and is added up where they meet.
        _ => of(&op.name, op.op.clone(), written),
    }
}
