//! The table of callables: which rule each public name follows.

use super::rule::Rule;
use std::borrow::Cow;
use std::sync::OnceLock;

/// One row of the table.
#[derive(Clone, Debug, PartialEq)]
pub struct Callable {
    /// The public dotted name: `numpy.linalg.svd`, `numpy.ndarray.sum`, `numpy.add.reduce`.
    pub name: String,
    /// How its shapes become dims.
    pub rule: Rule,
    /// Recorded as one op: hooked calls inside it are part of it. Otherwise the calls inside are recorded and this
    /// one is only their `via`.
    pub atomic: bool,
    /// The part of the name before its last dot that is a module: `numpy.linalg`, `numpy` for `numpy.add.reduce`.
    pub module: String,
}

/// The row of a callable, by its public name or the name the implementation gives it.
///
/// ```
/// use breakeven::lower::callable;
/// assert!(callable("numpy.linalg.svd").is_some_and(|c| c.atomic));
/// assert!(callable("numpy._core.fromnumeric.sum").is_some_and(|c| c.name == "numpy.sum"));
/// assert!(callable("numpy.no_such_thing").is_none());
/// ```
pub fn callable(name: &str) -> Option<&'static Callable> {
    let find = |name: &str| {
        let at = callables().binary_search_by(|c| c.name.as_str().cmp(name)).ok()?;
        callables().get(at)
    };
    find(name).or_else(|| find(&canonical(name))).or_else(|| find(&numpy_name(name)?))
}

/// The name in NumPy or SciPy of what CuPy has under the same one.
///
/// ```
/// use breakeven::lower::numpy_name;
/// assert_eq!(numpy_name("cupy.linalg.svd").as_deref(), Some("numpy.linalg.svd"));
/// assert_eq!(numpy_name("cupyx.scipy.ndimage.zoom").as_deref(), Some("scipy.ndimage.zoom"));
/// assert_eq!(numpy_name("cupyx.scatter_add").as_deref(), Some("numpy.add.at"));
/// assert_eq!(numpy_name("numpy.add"), None);
/// ```
pub fn numpy_name(name: &str) -> Option<String> {
    let scattered = ["add", "max", "min"].into_iter().zip(["add", "maximum", "minimum"]);
    if let Some(kind) = name.strip_prefix("cupyx.scatter_") {
        return scattered.into_iter().find(|(short, _)| *short == kind).map(|(_, ufunc)| format!("numpy.{ufunc}.at"));
    }
    match name.strip_prefix("cupyx.") {
        Some(rest) => rest.starts_with("scipy.").then(|| rest.to_owned()),
        None => name.strip_prefix("cupy.").map(|rest| format!("numpy.{rest}")),
    }
}

/// The texts of the table.
pub(super) const TABLES: [&str; 11] = [
    include_str!("../../callables/cupy.csv"),
    include_str!("../../callables/jax.csv"),
    include_str!("../../callables/learn.csv"),
    include_str!("../../callables/numba.csv"),
    include_str!("../../callables/numpy.csv"),
    include_str!("../../callables/pandas.csv"),
    include_str!("../../callables/polars.csv"),
    include_str!("../../callables/scipy.csv"),
    include_str!("../../callables/tensorflow.csv"),
    include_str!("../../callables/onnx.csv"),
    include_str!("../../callables/torch.csv"),
];

/// Every row, by name.
pub fn callables() -> &'static [Callable] {
    static TABLE: OnceLock<Vec<Callable>> = OnceLock::new();
    TABLE.get_or_init(|| {
        let mut table = Vec::new();
        for text in TABLES {
            for row in rows(text) {
                let (Some(name), Some(rule)) = (row.get(0), row.get(1)) else { continue };
                let callable = |name: String, rule| Callable {
                    module: module(&name).to_owned(),
                    name,
                    rule,
                    atomic: row.get(2) == Some("atomic"),
                };
                if let Some(function) = rule.strip_prefix("ufunc:") {
                    let methods = Rule::ufunc_methods(function);
                    table.extend(methods.map(|(method, rule)| callable(format!("{name}.{method}"), rule)));
                }
                table.push(callable(name.to_owned(), Rule::parse(rule).unwrap_or(Rule::Opaque)));
            }
        }
        table.sort_by(|a, b| a.name.cmp(&b.name));
        table
    })
}

/// Rows of a text of comma-separated values with `#` comments.
pub(crate) fn rows(text: &'static str) -> impl Iterator<Item = csv::StringRecord> {
    csv::ReaderBuilder::new()
        .has_headers(false)
        .comment(Some(b'#'))
        .flexible(true)
        .from_reader(text.as_bytes())
        .into_records()
        .filter_map(Result::ok)
}

fn module(name: &str) -> &str {
    let mut end = name.rfind('.').unwrap_or(0);
    // A class or a ufunc between the module and the name: `numpy.ndarray.sum`, `numpy.random.Generator.normal`.
    const MODULES: [&str; 3] = ["numpy", "scipy", "scipy.spatial"];
    const SUBMODULES: [&str; 18] = [
        "linalg",
        "fft",
        "random",
        "ndimage",
        "signal",
        "special",
        "sparse",
        "spatial",
        "stats",
        "interpolate",
        "optimize",
        "integrate",
        "distance",
        "csgraph",
        "windows",
        "cluster",
        "strings",
        "char",
    ];
    while let Some(dot) = name[..end].rfind('.') {
        if MODULES.contains(&&name[..end]) || SUBMODULES.contains(&&name[dot + 1..end]) {
            break;
        }
        end = dot;
    }
    &name[..end]
}

/// The public name of what an implementation calls by a longer one: private parts of the path are left out
/// (`numpy._core.fromnumeric.sum` → `numpy.sum`, `numpy.random._generator.Generator.normal` →
/// `numpy.random.Generator.normal`, `scipy.signal._signaltools.lfilter` → `scipy.signal.lfilter`).
///
/// ```
/// use breakeven::lower::canonical;
/// assert_eq!(canonical("scipy.signal._signaltools.lfilter"), "scipy.signal.lfilter");
/// assert_eq!(canonical("numpy.random.mtrand.RandomState.normal"), "numpy.random.RandomState.normal");
/// assert_eq!(canonical("numpy.add"), "numpy.add");
/// ```
///
/// PyTorch's ops in place (`aten.add_`) and on lists (`aten._foreach_add_`) are those that they repeat.
pub fn canonical(name: &str) -> Cow<'_, str> {
    if let Some(op) = name.strip_prefix("aten.") {
        let op = op.strip_prefix("_foreach_").unwrap_or(op);
        let op = op.strip_suffix('_').unwrap_or(op);
        return Cow::Owned(format!("aten.{op}"));
    }
    // Modules without an underscore that are nevertheless not where users find the name.
    const HIDDEN: [&str; 16] = [
        "core",
        "lib",
        "fromnumeric",
        "multiarray",
        "umath",
        "numeric",
        "mtrand",
        "function_base",
        "shape_base",
        "arraysetops",
        "nanfunctions",
        "twodim_base",
        "index_tricks",
        "type_check",
        "ufunclike",
        "stride_tricks",
    ];
    let hidden = |part: &str| (part.starts_with('_') && !part.starts_with("__")) || HIDDEN.contains(&part);
    let parts = || name.split('.');
    let last = parts().count().saturating_sub(1);
    if !parts().take(last).any(hidden) {
        return Cow::Borrowed(name);
    }
    let kept: Vec<&str> =
        parts().enumerate().filter(|&(i, p)| i == 0 || i == last || !hidden(p)).map(|(_, p)| p).collect();
    Cow::Owned(kept.join("."))
}
