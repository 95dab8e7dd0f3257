//! What was called: public names, and what each means for the recorder.

use breakeven::lower::{self, Rule, Verb};
use breakeven::workload::InGraph;
use pyo3::PyResult;
use pyo3::exceptions::PyValueError;
use std::collections::BTreeMap;

/// What a call has to do with a graph of launches, by the name that the workload format has for it.
pub(crate) fn in_graph(name: &str) -> PyResult<InGraph> {
    let known = serde_json::from_value(name.into());
    known.map_err(|_| PyValueError::new_err(format!("`{name}` is none of capture, launch and node")))
}

/// What a call with this name does to the arrays it is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Reads its inputs and writes its outputs on the device.
    Op,
    /// As `Op`, unless its result shares the memory of an input: then nothing moves.
    MaybeView,
    /// Makes arrays from what the host has (lists, files), unless it was given arrays.
    HostMakes,
    /// The host reads its first input.
    HostReads,
    /// Stays on the host altogether.
    Host,
    /// No array work: what it calls is part of it, and it is not recorded.
    Nothing,
}

/// A public name with the keywords that shapes do not tell.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Callee {
    /// `numpy.linalg.svd`.
    pub(crate) name: String,
    /// `("subscripts", "ij,jk->ik")`, as Python prints them.
    pub(crate) keywords: Vec<(String, String)>,
}

#[derive(Clone, Copy, Debug)]
struct Meaning {
    kind: Kind,
    atomic: bool,
    indexes: bool,
}

/// Interned callees.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    list: Vec<(Callee, Meaning)>,
    index: BTreeMap<Callee, u32>,
}

impl Names {
    /// The index of a name, the same for the same name.
    pub(crate) fn intern(&mut self, name: &str) -> u32 {
        self.intern_with(name, Vec::new())
    }

    /// The index of a name with keywords.
    pub(crate) fn intern_with(&mut self, name: &str, keywords: Vec<(String, String)>) -> u32 {
        let callee = Callee { name: name.to_owned(), keywords };
        if let Some(&known) = self.index.get(&callee) {
            return known;
        }
        let index = self.list.len() as u32;
        self.list.push((callee.clone(), meaning(name)));
        self.index.insert(callee, index);
        index
    }

    /// Name and keywords.
    pub(crate) fn callee(&self, index: u32) -> &Callee {
        &self.list[index as usize].0
    }

    /// What it does to its arrays.
    #[inline]
    pub(crate) fn kind(&self, index: u32) -> Kind {
        self.list[index as usize].1.kind
    }

    /// Whether what it calls is part of it.
    pub(crate) fn is_atomic(&self, index: u32) -> bool {
        self.list[index as usize].1.atomic
    }

    /// Whether it is `a[i]`, read or written.
    pub(crate) fn indexes(&self, index: u32) -> bool {
        self.list[index as usize].1.indexes
    }
}

/// Names of functions that make arrays from lists, files and foreign memory.
const HOST_MAKES: [&str; 15] = [
    "array",
    "asarray",
    "asanyarray",
    "ascontiguousarray",
    "asfortranarray",
    "asarray_chkfinite",
    "asmatrix",
    "frombuffer",
    "fromfile",
    "fromiter",
    "fromregex",
    "fromstring",
    "genfromtxt",
    "load",
    "loadtxt",
];

/// Whether the function writes to its first argument and does not read it.
pub(crate) fn writes_first(name: &str) -> bool {
    name == "numpy.copyto"
}

/// Functions whose first argument after the array is `axis`.
const AXIS_FOLLOWS: [&str; 25] = [
    "all", "amax", "amin", "any", "argmax", "argmin", "argsort", "cumprod", "cumsum", "max", "mean", "median", "min",
    "nanmax", "nanmean", "nanmin", "nanstd", "nansum", "nanvar", "prod", "ptp", "sort", "std", "sum", "var",
];

/// Whether the function takes `axis` right after the array.
pub(crate) fn has_axis(name: &str) -> bool {
    name.starts_with("numpy.") && AXIS_FOLLOWS.contains(&name.rsplit('.').next().unwrap_or_default())
}

/// Methods of arrays as `a[i]` calls them, of which one that gives a number is an `item`.
const INDEXES: [&str; 3] = ["__getitem__", "__setitem__", "item"];

fn meaning(name: &str) -> Meaning {
    let row = lower::callable(name);
    // Of NumPy's and its kind what no table lists is made of what is; of other libraries nobody saw the inside.
    let arrays = ["numpy", "scipy", "cupy", "cupyx"].contains(&name.split('.').next().unwrap_or_default());
    let atomic = row.map_or(!arrays, |row| row.atomic);
    let kind = match row.map(|row| row.rule) {
        _ if name.strip_prefix("numpy.").is_some_and(|short| HOST_MAKES.contains(&short)) => Kind::HostMakes,
        Some(Rule::HostRead) => Kind::HostReads,
        Some(Rule::View | Rule::ViewUnlessCopied | Rule::GetItem) => Kind::MaybeView,
        Some(Rule::HostOnly | Rule::Frame(Verb::Host)) => Kind::Host,
        Some(Rule::Nothing) => Kind::Nothing,
        _ => Kind::Op,
    };
    let indexes = name.strip_prefix("numpy.ndarray.").is_some_and(|short| INDEXES.contains(&short));
    Meaning { kind, atomic, indexes }
}
