//! numexpr: a line of element-wise steps on large arrays, block by block in the cache and on several cores.

use super::super::draft::Draft;
use super::super::source::{assignment, patch};
use super::super::{Change, Context, Edit};
use super::blas_threads;
use super::fuse::{Rule, fuse};
use crate::estimate::Side;
use crate::estimate::hosttime::host_time;
use crate::kernel::{CORE_MEMORY, fresh_pages};
use crate::report::words;
use crate::workload::{Dtype, Entry, Op};

pub(super) const EDIT: Edit = Edit { id: "numexpr", sides: &[Side::Cpu], apply };

/// Elements from which a step is worth it: below, handing out the blocks takes the time.
const LARGE: u64 = 100_000;
/// A call, s; a step on an element that is in the cache, s; a function on it, s: measured on an Intel Xeon at 2.1 GHz
/// with numexpr 2.14.2 as PyPI has it, without Intel's vector functions, 2026-11-22. Of what a pass through memory takes
/// so much was seen beside the steps.
const CALL: f64 = 20e-6;
const STEP: f64 = 0.45e-9;
const FUNCTION: f64 = 5e-9;
const SEEN: f64 = 0.7;
/// Cores that it uses by itself, at most.
const THREADS: u32 = 8;
/// Share of a memory's peak that all cores together draw.
const STREAM: f64 = 0.8;

/// What NumPy's operators call, and functions that numexpr has under the same name.
const OPERATORS: [&str; 11] = [
    "add",
    "subtract",
    "multiply",
    "divide",
    "power",
    "square",
    "negative",
    "greater",
    "greater_equal",
    "less",
    "less_equal",
];
const FUNCTIONS: [&str; 23] = [
    "abs", "sqrt", "exp", "expm1", "log", "log10", "log1p", "sin", "cos", "tan", "arcsin", "arccos", "arctan",
    "arctan2", "sinh", "cosh", "tanh", "arcsinh", "arccosh", "arctanh", "floor", "ceil", "where",
];

fn apply<'a>(draft: &Draft<'a>, ctx: &Context, _: Side) -> Option<Change<'a>> {
    let program = &draft.workload.program;
    let cores = program.cpu_cores.unwrap_or(program.cpu_threads / 2).clamp(1, THREADS);
    let speed = blas_threads::speed(cores);
    let memory = (CORE_MEMORY * speed).min((STREAM * ctx.cpu.bandwidth.get()).max(CORE_MEMORY));
    let cached = ctx.cpu.cache.map_or(0.0, |cache| cache.get());
    // Times are as recorded, those of other programs among them.
    let own = host_time(&draft.workload).own;
    let takes = |entry: &Entry| {
        let n = if let Op::Elementwise { n, .. } = entry.op { n } else { 0 };
        let name = entry.name.strip_prefix("numpy.").unwrap_or_default();
        let known = OPERATORS.contains(&name) || FUNCTIONS.contains(&name) || name == "absolute";
        known && n >= LARGE && matches!(entry.dtype, Dtype::F64 | Dtype::F32 | Dtype::Bool)
    };
    let cpu_ns = |parts: &[u32], whole: &Entry| {
        let moved = whole.read_bytes as f64 + whole.written_bytes as f64;
        let pass = if moved > cached { moved / memory } else { 0.0 } + fresh_pages(whole.written_bytes as f64) / speed;
        let steps = parts.iter().map(|&part| match draft.entry(part).op {
            Op::Elementwise { n, transcendental, .. } => n as f64 * if transcendental { FUNCTION } else { STEP },
            _ => 0.0,
        });
        let after = CALL + steps.sum::<f64>() / speed + SEEN * pass;
        whole.cpu_ns.min((after / own * 1e9) as u64)
    };
    let (out, chains) = fuse(draft, &Rule { takes: &takes, one_line: true, cpu_ns: &cpu_ns })?;
    let main = chains.iter().max_by(|a, b| a.saved_bytes.total_cmp(&b.saved_bytes))?;
    let site = draft.workload.sites.get(main.site as usize)?.clone();
    let double = main.parts.iter().all(|&part| matches!(draft.entry(part).dtype, Dtype::F64 | Dtype::Bool));
    let line = evaluated(&site.text).filter(|_| double);
    let elsewhere = match chains.len() {
        1 => String::new(),
        2 => " and of one other line".to_owned(),
        n => format!(" and of {} other lines", n - 1),
    };
    let array = draft.entry(main.parts[0]).written_bytes as f64;
    Some(Change {
        title: format!("numexpr for the {} element-wise steps of {}{elsewhere}", main.parts.len(), site.label()),
        why: format!(
            "each step is a pass through memory on one core, and leaves an array of {}; numexpr takes all steps block by block \
             in the cache, on {}",
            words::bytes(array),
            words::several(u64::from(cores), "core", "cores")
        ),
        draft: out,
        patch: line.as_ref().map(|line| patch(&site, line)),
        ready: Some(match line {
            Some(_) => "import numexpr".to_owned(),
            None => "numexpr.evaluate(\"a * b + c\")  # the expression as text; slices and sums are taken outside"
                .to_owned(),
        }),
        site: Some(site),
        risk: Some(
            "results may differ in the last digit, and float32 becomes float64 beside a plain number; \
             Numba does the same for a function (`@numba.njit(parallel=True)`)",
        ),
    })
}

/// The line with its expression as numexpr's text; `None` where that is not certain.
fn evaluated(text: &str) -> Option<String> {
    if let Some((code, comment)) = text.split_once('#') {
        return Some(format!("{}  #{comment}", evaluated(code.trim_end())?));
    }
    if let Some(value) = text.strip_prefix("return ") {
        return Some(format!("return numexpr.evaluate(\"{}\")", translated(value)?));
    }
    let (target, operator, value) = assignment(text)?;
    let value = translated(value)?;
    let plain = target.chars().all(|c| c.is_alphanumeric() || c == '_');
    match operator {
        "" if !target.is_empty() => Some(format!("{target} = numexpr.evaluate(\"{value}\")")),
        "+" | "-" | "*" | "/" if plain => {
            Some(format!("{target} = numexpr.evaluate(\"{target} {operator} ({value})\", out={target})"))
        }
        _ => None,
    }
}

/// A Python expression of plain names, numbers, operators and known functions, as numexpr reads it.
fn translated(value: &str) -> Option<String> {
    const WORDS: [&str; 8] = ["and", "or", "not", "if", "else", "in", "is", "lambda"];
    let (mut out, mut rest, mut open) = (String::new(), value.trim(), 0);
    while let Some(c) = rest.chars().next() {
        let word = rest.find(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '.')).unwrap_or(rest.len());
        let (first, left) = rest.split_at(word.max(c.len_utf8()));
        let called = left.starts_with('(');
        match c {
            c if c.is_ascii_digit() => out.push_str(first),
            c if c.is_alphabetic() || c == '_' => {
                let name = first.strip_prefix("np.").or_else(|| first.strip_prefix("numpy."));
                match name {
                    Some("absolute") if called => out.push_str("abs"),
                    Some(name) if called && FUNCTIONS.contains(&name) => out.push_str(name),
                    None if !called && !first.contains('.') && !WORDS.contains(&first) => out.push_str(first),
                    _ => return None,
                }
            }
            '(' | ')' => {
                open += if c == '(' { 1 } else { -1 };
                out.push(c);
            }
            '+' | '-' | '*' | '/' | '<' | '>' | '=' | ',' | ' ' => out.push(c),
            _ => return None,
        }
        if open < 0 {
            return None;
        }
        rest = left;
    }
    // A comma outside of all calls makes a tuple; `//` and chained comparisons are Python's own.
    let compares = out.matches(['<', '>']).count() + out.matches("==").count();
    let tuple = {
        let mut depth = 0;
        out.chars().any(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            c == ',' && depth == 0
        })
    };
    (open == 0 && !tuple && !out.contains("//") && compares <= 1 && !out.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_plain_line_is_rewritten() {
        for (line, new) in [
            ("y = a*b + 2.0*c", "y = numexpr.evaluate(\"a*b + 2.0*c\")"),
            ("return np.exp(-x**2 / 2) + 1e-3", "return numexpr.evaluate(\"exp(-x**2 / 2) + 1e-3\")"),
            ("y = a*b - c  # the rest", "y = numexpr.evaluate(\"a*b - c\")  # the rest"),
            ("u += dt * (v - u)", "u = numexpr.evaluate(\"u + (dt * (v - u))\", out=u)"),
            ("out[i] = np.where(a > b, a, np.abs(b))", "out[i] = numexpr.evaluate(\"where(a > b, a, abs(b))\")"),
        ] {
            assert_eq!(evaluated(line).as_deref(), Some(new));
        }
        for line in [
            "y = a[1:] + a[:-1] * 2",
            "y = self.a * b + c",
            "y = (a * b).sum()",
            "y = np.sum(a * b + c)",
            "y = a * b + np.pi",
            "y = a // b + c",
            "y = a @ b + c",
            "y = a * b, c + d",
            "y = f(a) * b + c",
            "y = a * (b +",
            "y = a if b else c",
            "m = (a < b) == (c < d)",
            "total[0] += a * b + c",
            "print(a * b + c)",
            "",
        ] {
            assert_eq!(evaluated(line), None, "{line}");
        }
    }
}
