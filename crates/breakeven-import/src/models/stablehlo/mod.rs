//! StableHLO as text: a function of primitive operations, as XLA would compile it.
//!
//! Dialects beside it (`chlo`, `func`, `arith`) are read as far as exporters of JAX, PyTorch and TensorFlow write them.

mod build;
mod calls;
mod constants;
mod control;
mod facts;
mod memory;
mod module;
mod open;
mod scope;
mod statement;
mod tree;
mod trips;
mod types;

use super::given::Given;
use super::program::{Model, Run, entry, note};
use crate::source::{Source, unreadable};
use breakeven::compiled::compiled;
use breakeven::workload::{Dtype, Op, Site, file_name};
use breakeven::{Error, Result};
use build::Build;
use module::Module;
use std::io::Read;

/// Longer texts are not read, bytes.
const LONGEST: u64 = 1 << 30;
/// MLIR's bytecode begins so: `ML\xefR`.
const BYTECODE: &[u8] = b"ML\xefR";
/// Names in notes.
const TOLD: usize = 8;

/// Whether a file that begins so is MLIR.
pub(super) fn knows(head: &[u8]) -> bool {
    if head.starts_with(BYTECODE) {
        return true;
    }
    let first = head.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let mut first = first.filter(|line| !line.is_empty() && !line.starts_with(b"//"));
    let Some(line) = first.next() else { return false };
    let begins = [
        "module @",
        "module {",
        "module attributes",
        "#loc",
        "func.func",
        "\"builtin.module\"",
        "\"func.func\"",
        "#map",
    ];
    begins.iter().any(|word| line.starts_with(word.as_bytes())) || line == b"module"
}

/// Reads a module.
///
/// # Errors
/// As [`super::read_model`].
pub(super) fn read(mut source: Source, given: &Given) -> Result<Model> {
    let name = source.name.clone();
    if source.head().starts_with(BYTECODE) {
        let message = format!("{name} is MLIR as bytecode; read is its text");
        return Err(Error::new("model-kind", message).hint(
            "stablehlo-translate --deserialize FILE > FILE.mlir; or in Python: \
             `jax._src.interpreters.mlir.make_ir_context()` and `jaxlib.mlir.ir.Module.parse(open(FILE, \"rb\").read())`, printed",
        ));
    }
    let mut bytes = Vec::new();
    source.by_ref().take(LONGEST + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&name, &error))?;
    if bytes.len() as u64 > LONGEST {
        let message = format!("{name} has more than {} of text", breakeven::report::words::bytes(LONGEST as f64));
        return Err(Error::new("model-read", message).hint("write it without weights: large constants elided"));
    }
    let text = String::from_utf8_lossy(&bytes);
    let (trees, cut) = tree::tree(&text, &name)?;
    let module = Module::of(&trees);
    modelled(module, cut || source.ended_badly(), &name, given)
}

/// The model of a module that was read.
fn modelled(module: Module<'_>, cut: bool, name: &str, given: &Given) -> Result<Model> {
    let Some(entry_name) = module.entry() else {
        let message = format!("{name} is MLIR without a function that could be run");
        return Err(Error::new("model-read", message).hint("`jax.jit(f).lower(...).as_text()` has a `main`"));
    };
    let function = &module.functions[entry_name];
    let arguments = build::arguments(function, given, name)?;
    let mut build = Build::new(&module, name);
    let Some((graph, results)) = build.function(entry_name, &arguments)? else {
        return Err(Error::new("model-read", format!("{name} holds no function @{entry_name}")).hint("write it again"));
    };
    let compiled = compiled(&graph);
    let mut not_read = Vec::new();
    let mut unknown = build.unknown.clone();
    unknown.extend(compiled.unknown.iter().cloned().filter(|op| !op.starts_with("call of")));
    let unknown: Vec<String> = unknown.into_iter().filter(|op| op != "tuple").collect();
    for op in unknown.iter().take(TOLD) {
        not_read.push(note("unknown-op", format!("{op}: not known, counted as not understood")));
    }
    if unknown.len() > TOLD {
        not_read.push(note("unknown-op", format!("{} more operations are not known", unknown.len() - TOLD)));
    }
    for text in build.uncounted.iter().take(TOLD) {
        not_read.push(note("trips-unknown", text.clone()));
    }
    if cut {
        not_read.push(note("cut-short", "the text ends in the middle: what is whole was read"));
    }
    let whole = unknown.is_empty() && !cut && build.uncounted.is_empty();
    let bytes = |types: &[types::Type]| {
        let each = types.iter().map(|of| of.shape().iter().fold(of.dtype.bytes(), |n, &dim| n.saturating_mul(dim)));
        each.fold(0, u64::saturating_add)
    };
    let elements = |types: &[types::Type]| {
        let each = types.iter().map(|of| of.shape().iter().fold(1, |n: u64, &dim| n.saturating_mul(dim)));
        each.fold(0, u64::saturating_add)
    };
    let weights: Vec<types::Type> = module.globals.iter().chain(&build.weights).cloned().collect();
    let dtype = arguments.first().map_or(Dtype::F32, |of| of.dtype);
    let mut ops = Vec::new();
    let (inputs, outputs) = (bytes(&arguments), bytes(&results));
    let parts = compiled.parts;
    let known: Vec<_> = parts.into_iter().filter(|part| part.op != Op::Opaque).collect();
    if !known.is_empty() {
        ops.push(entry(1, "jax.jit", Op::Routine { parts: known }, dtype, [inputs, outputs]));
    }
    if !whole {
        ops.push(entry(1, unknown.first().map_or("stablehlo.while", String::as_str), Op::Opaque, dtype, [0, 0]));
    }
    if weights.is_empty() {
        not_read.push(note(
            "no-parameters",
            "the file does not tell weights from inputs: all are arguments of its function",
        ));
    }
    let parameters = (!weights.is_empty()).then(|| elements(&weights));
    let parameter_bytes = (!weights.is_empty()).then(|| bytes(&weights));
    let run = Run {
        name: file_name(name).to_owned(),
        copies: ["jax.device_put", "jax.Array.__array__"],
        weights: parameter_bytes.unwrap_or(0),
        inputs,
        outputs,
        sites: vec![Site { file: file_name(name).to_owned(), function: entry_name.to_owned(), ..Site::default() }],
        ops,
        memory: memory::needed(&graph, inputs, parameter_bytes.unwrap_or(0)),
    };
    let workload = run.workload(given.runs, &not_read);
    Ok(Model {
        kind: "stablehlo",
        version: None,
        producer: module.name.map(str::to_owned),
        parameters,
        parameter_bytes,
        ops: build.ops,
        not_read,
        workload,
    })
}
