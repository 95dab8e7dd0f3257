//! Lengths that a model file leaves open, as the user gives them: `--shape images=8x3x224x224`, `--dim batch=8`.

use breakeven::report::words;
use breakeven::{Error, Result};
use std::collections::BTreeMap;

/// Shapes by input, lengths by name, and how often the model runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Given {
    shapes: BTreeMap<String, Vec<u64>>,
    dims: BTreeMap<String, u64>,
    /// Runs of the model in one process, at least 1.
    pub runs: u64,
}

impl Default for Given {
    fn default() -> Self {
        Self { shapes: BTreeMap::new(), dims: BTreeMap::new(), runs: 1 }
    }
}

/// No array has more axes.
const MOST_AXES: usize = 32;
/// Names in messages.
const TOLD: usize = 12;

impl Given {
    /// Reads `name=8x3x224x224` (an input without axes is `name=`) and `batch=8`.
    ///
    /// ```
    /// use breakeven_import::Given;
    /// let given = Given::read(&["x=8x3"], &["batch=8"], 1)?;
    /// assert_eq!((given.shape("x"), given.dim("batch")), (Some(&[8, 3][..]), Some(8)));
    /// assert!(Given::read(&["x=8,3"], &[], 1).is_err());
    /// # Ok::<(), breakeven::Error>(())
    /// ```
    ///
    /// # Errors
    /// `model-shape` for what is neither, and for a name that is given twice.
    pub fn read(shapes: &[impl AsRef<str>], dims: &[&str], runs: u64) -> Result<Self> {
        let mut given = Self { runs: runs.max(1), ..Self::default() };
        for text in shapes.iter().map(AsRef::as_ref) {
            let wrong = || {
                let message = format!("`--shape {}` is no shape of an input", words::printable(text, 80));
                Error::new("model-shape", message).hint("as in `--shape images=8x3x224x224`")
            };
            let (name, shape) = text.rsplit_once('=').ok_or_else(wrong)?;
            let lengths = shape.split('x').filter(|_| !shape.is_empty()).map(|length| length.trim().parse().ok());
            let lengths: Vec<u64> = lengths.collect::<Option<_>>().ok_or_else(wrong)?;
            if name.is_empty() || lengths.len() > MOST_AXES || !is_bounded(&lengths) {
                return Err(wrong());
            }
            if given.shapes.insert(name.trim().to_owned(), lengths).is_some() {
                return Err(twice("--shape", name));
            }
        }
        for text in dims {
            let wrong = || {
                let message = format!("`--dim {}` is no length with a name", words::printable(text, 80));
                Error::new("model-shape", message).hint("as in `--dim batch=8`")
            };
            let (name, length) = text.rsplit_once('=').ok_or_else(wrong)?;
            let length: u64 = length.trim().parse().ok().filter(|&length| is_bounded(&[length])).ok_or_else(wrong)?;
            if name.is_empty() || length == 0 {
                return Err(wrong());
            }
            if given.dims.insert(name.trim().to_owned(), length).is_some() {
                return Err(twice("--dim", name));
            }
        }
        Ok(given)
    }

    /// The shape given for an input.
    pub fn shape(&self, input: &str) -> Option<&[u64]> {
        self.shapes.get(input).map(Vec::as_slice)
    }

    /// The length given for a name.
    pub fn dim(&self, name: &str) -> Option<u64> {
        self.dims.get(name).copied()
    }

    /// Whether a shape has as many axes as the file says, and the lengths that it fixes.
    ///
    /// # Errors
    /// `model-shape`, with what the file says.
    pub(crate) fn fits(&self, input: &str, shape: &[u64], dims: &[Option<u64>]) -> Result<()> {
        let fits = |(given, dim): (&u64, &Option<u64>)| dim.is_none_or(|dim| dim == *given);
        if shape.len() == dims.len() && shape.iter().zip(dims).all(fits) {
            return Ok(());
        }
        let text = |dim: &Option<u64>| dim.map_or_else(|| "?".to_owned(), |dim| dim.to_string());
        let dims: Vec<String> = dims.iter().map(text).collect();
        let shape: Vec<String> = shape.iter().map(u64::to_string).collect();
        let message = format!(
            "`--shape {}={}`, and the file says {}",
            words::printable(input, 60),
            shape.join("x"),
            if dims.is_empty() { "that it is one number".to_owned() } else { dims.join("x") },
        );
        Err(Error::new("model-shape", message)
            .hint("give as many lengths as there are, and those that are fixed as they are"))
    }

    /// Whether every name that was given is one of the file's.
    ///
    /// # Errors
    /// `model-shape`, with the names that there are.
    pub(crate) fn all_are_known(&self, file: &str, inputs: &[&str], dims: &[&str]) -> Result<()> {
        let no_input = self.shapes.keys().find(|name| !inputs.contains(&name.as_str()));
        if let Some(name) = no_input {
            let message = format!("{file} has no input `{}`; it has {}", words::printable(name, 60), listed(inputs));
            return Err(
                Error::new("model-shape", message).hint("as in `--shape NAME=8x3x224x224`, with one of these names")
            );
        }
        let no_dim = self.dims.keys().find(|name| !dims.contains(&name.as_str()));
        if let Some(name) = no_dim {
            let has = if dims.is_empty() { "none with a name".to_owned() } else { listed(dims) };
            let message = format!("{file} leaves no length `{}` open; it has {has}", words::printable(name, 60));
            return Err(Error::new("model-shape", message).hint("as in `--dim NAME=8`, or `--shape` for a whole input"));
        }
        Ok(())
    }

    /// Lengths that are open and were not given: inputs with their shapes, and the names of lengths.
    pub(crate) fn missing(file: &str, inputs: &[(String, String)], dims: &[&str]) -> Error {
        let shapes: Vec<String> = inputs
            .iter()
            .take(TOLD)
            .map(|(name, shape)| format!("{} ({})", words::printable(name, 60), words::printable(shape, 80)))
            .collect();
        let more = inputs.len().saturating_sub(TOLD);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let message = format!("{file} leaves lengths of its inputs open: {}{more}", shapes.join(", "));
        let by_name: Vec<String> =
            dims.iter().take(TOLD).map(|dim| format!("--dim {}=8", words::printable(dim, 40))).collect();
        let by_shape = inputs.first().map_or_else(String::new, |(name, shape)| {
            let example: Vec<String> =
                shape.split('x').map(|dim| dim.parse::<u64>().unwrap_or(8).to_string()).collect();
            format!("--shape {}={}", words::printable(name, 60), example.join("x"))
        });
        let hint = if by_name.is_empty() {
            format!("say how long: {by_shape}")
        } else {
            format!("say how long: {}; or {by_shape}", by_name.join(" "))
        };
        Error::new("model-shape", message).hint(hint)
    }
}

fn twice(option: &str, name: &str) -> Error {
    Error::new("model-shape", format!("`{option}` gives `{}` twice", words::printable(name, 60))).hint("give it once")
}

/// Whether the elements are countable.
fn is_bounded(lengths: &[u64]) -> bool {
    const MOST: u64 = 1 << 48;
    lengths.iter().try_fold(1_u64, |product, &length| product.checked_mul(length.max(1))).is_some_and(|n| n <= MOST)
}

/// Names, the first few.
fn listed(names: &[&str]) -> String {
    let told: Vec<String> = names.iter().take(TOLD).map(|name| words::printable(name, 60)).collect();
    let more = names.len().saturating_sub(TOLD);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    if told.is_empty() { "none".to_owned() } else { format!("{}{more}", told.join(", ")) }
}
