//! What the arguments of a compiled function look like: as one number, equal for those that one executable runs for.

use crate::address::AddressMap;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple, PyType};

/// Kinds of arguments.
pub(super) struct Types {
    array: Py<PyType>,
    ndarray: Py<PyType>,
    flatten: Py<PyAny>,
    waits: Py<PyAny>,
    /// What arrays are, by the address of what says so; held, so that addresses stay theirs.
    avals: AddressMap<usize, (Py<PyAny>, u64)>,
}

/// Kept before all are forgotten.
const MOST: usize = 4096;
/// Arrays of one result that are waited for.
const MOST_WAITED: u32 = 64;
/// Trees are no deeper than this.
const DEEPEST: u32 = 32;

impl Types {
    pub(super) fn new(
        array: &Bound<'_, PyType>,
        ndarray: &Bound<'_, PyType>,
        flatten: Py<PyAny>,
        waits: Py<PyAny>,
    ) -> Self {
        Self {
            array: array.clone().unbind(),
            ndarray: ndarray.clone().unbind(),
            flatten,
            waits,
            avals: AddressMap::default(),
        }
    }

    /// Waits for the arrays among the leaves of a value, up to some.
    pub(super) fn wait(&self, value: &Bound<'_, PyAny>, waited: &mut u32) -> PyResult<()> {
        let kind = value.get_type();
        if *waited >= MOST_WAITED {
            return Ok(());
        }
        if kind.is(&self.array) {
            *waited += 1;
            return self.waits.bind(value.py()).call1((value,)).map(|_| ());
        }
        if let Ok(items) = value.cast::<PyTuple>() {
            return items.iter().try_for_each(|item| self.wait(&item, waited));
        }
        if let Ok(items) = value.cast_exact::<PyList>() {
            return items.iter().try_for_each(|item| self.wait(&item, waited));
        }
        if let Ok(items) = value.cast_exact::<PyDict>() {
            return items.values().iter().try_for_each(|item| self.wait(&item, waited));
        }
        if value.is_none() {
            return Ok(());
        }
        let (leaves, _): (Bound<'_, PyList>, Bound<'_, PyAny>) =
            self.flatten.bind(value.py()).call1((value,))?.extract()?;
        let inner = |leaf: &Bound<'_, PyAny>| !leaf.is(value);
        leaves.iter().filter(inner).try_for_each(|leaf| self.wait(&leaf, waited))
    }

    fn aval(&mut self, array: &Bound<'_, PyAny>) -> PyResult<u64> {
        let aval = array.getattr(intern!(array.py(), "aval"))?;
        let address = aval.as_ptr() as usize;
        if let Some((_, known)) = self.avals.get(&address) {
            return Ok(*known);
        }
        if self.avals.len() >= MOST {
            self.avals.clear();
        }
        let looks = aval.hash()? as u64;
        self.avals.insert(address, (aval.unbind(), looks));
        Ok(looks)
    }

    fn value(&mut self, value: &Bound<'_, PyAny>, depth: u32) -> PyResult<u64> {
        let py = value.py();
        let kind = value.get_type();
        let word = kind.as_ptr() as u64;
        if kind.is(&self.array) {
            return Ok(mixed(1, self.aval(value)?));
        }
        if kind.is(&self.ndarray) {
            let shape = value.getattr(intern!(py, "shape"))?.hash()? as u64;
            return Ok(mixed(mixed(2, shape), value.getattr(intern!(py, "dtype"))?.hash()? as u64));
        }
        if depth >= DEEPEST {
            return Ok(word);
        }
        // Also what is made of one, such as a named tuple.
        if let Ok(items) = value.cast::<PyTuple>() {
            let each = |sum: PyResult<u64>, item| Ok(mixed(sum?, self.value(&item, depth + 1)?));
            return items.iter().fold(Ok(word), each);
        }
        if let Ok(items) = value.cast_exact::<PyList>() {
            let each = |sum: PyResult<u64>, item| Ok(mixed(sum?, self.value(&item, depth + 1)?));
            return items.iter().fold(Ok(word), each);
        }
        if let Ok(items) = value.cast_exact::<PyDict>() {
            return self.named(items, depth);
        }
        let plain = value.is_none() || kind.getattr(intern!(py, "__module__"))?.eq("builtins")?;
        if plain {
            return Ok(word);
        }
        let (leaves, tree): (Bound<'_, PyList>, Bound<'_, PyAny>) = self.flatten.bind(py).call1((value,))?.extract()?;
        if leaves.len() == 1 && leaves.get_item(0)?.is(value) {
            return Ok(word);
        }
        let tree = tree.hash()? as u64;
        leaves.iter().try_fold(mixed(word, tree), |sum, leaf| Ok(mixed(sum, self.value(&leaf, depth + 1)?)))
    }

    /// In whatever order.
    fn named(&mut self, items: &Bound<'_, PyDict>, depth: u32) -> PyResult<u64> {
        let each = |sum: u64, (name, item): (Bound<'_, PyAny>, Bound<'_, PyAny>)| {
            Ok(sum.wrapping_add(mixed(name.hash()? as u64, self.value(&item, depth + 1)?)))
        };
        items.iter().try_fold(items.len() as u64, each)
    }
}

/// Two numbers as one.
fn mixed(a: u64, b: u64) -> u64 {
    let word = (a.rotate_left(23) ^ b).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word ^ word >> 29
}

/// What the arguments of a call look like; of those that it is compiled for, the values themselves. 0 where they cannot be
/// looked at.
pub(super) fn of(
    types: &mut Types,
    function: &Bound<'_, PyAny>,
    args: &Bound<'_, PyAny>,
    kwargs: Option<&Bound<'_, PyAny>>,
) -> u64 {
    look(types, function, args, kwargs).unwrap_or(0)
}

fn look(
    types: &mut Types,
    function: &Bound<'_, PyAny>,
    args: &Bound<'_, PyAny>,
    kwargs: Option<&Bound<'_, PyAny>>,
) -> PyResult<u64> {
    let places: Vec<usize> = settings(function, "static_argnums").unwrap_or_default();
    let names: Vec<String> = settings(function, "static_argnames").unwrap_or_default();
    let args = args.cast::<PyTuple>()?;
    let mut sum = args.len() as u64;
    for (place, value) in args.iter().enumerate() {
        let looks = if places.contains(&place) { value.hash()? as u64 } else { types.value(&value, 0)? };
        sum = mixed(sum, looks);
    }
    for (name, value) in kwargs.map(|kwargs| kwargs.cast::<PyDict>()).transpose()?.into_iter().flatten() {
        let word: String = name.extract()?;
        let looks = if names.contains(&word) { value.hash()? as u64 } else { types.value(&value, 0)? };
        sum = sum.wrapping_add(mixed(name.hash()? as u64, looks));
    }
    Ok(sum)
}

/// What a function was compiled with.
fn settings<R: for<'a, 'py> FromPyObject<'a, 'py>>(function: &Bound<'_, PyAny>, name: &str) -> Option<R> {
    function.getattr(intern!(function.py(), "_jit_info")).ok()?.getattr(name).ok()?.extract().ok()
}
