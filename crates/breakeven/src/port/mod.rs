//! What becomes of a NumPy script in another array library: counterparts, dispatch, launches, start-up.
//!
//! A [`PortProfile`] is data (`ports/NAME.csv` and `ports/NAME_costs.csv`): a library is added by adding its two files
//! and a row that names them.
//!
//! ```
//! use breakeven::port::{self, Counterpart};
//!
//! let cupy = port::cupy();
//! assert_eq!(cupy.counterpart("numpy.linalg.svd"), Counterpart::Device("cupy.linalg.svd"));
//! assert!(matches!(cupy.counterpart("numpy.vectorize"), Counterpart::Host(why) if why.contains("Python function")));
//! ```

mod batches;
mod callable;
mod costs;
mod lean;
mod startup;
mod table;
mod work;

pub use callable::Callable;
pub use lean::{described, lean, lean_costs};
pub use startup::{Startup, StartupPart};
pub use work::Work;

use crate::hardware::device::Vendor;
use crate::interval::{Basis, Interval};
use crate::lower::{canonical, numpy_name};
use crate::workload::Op;
use batches::Batches;
use costs::Costs;
use std::sync::OnceLock;
use table::Table;
#[cfg(test)]
use work::Passes;

/// What a callable becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Counterpart<'a> {
    /// Runs on the device, under this name.
    Device(&'a str),
    /// Costs dispatch only: no kernel, no copy.
    View(&'a str),
    /// Stays on the host, for this reason: its inputs are copied there, its results back.
    Host(&'a str),
}

/// An array library that a script could be ported to.
#[derive(Debug)]
pub struct PortProfile {
    /// Its name: `cupy`.
    pub name: &'static str,
    /// Makers of GPUs that it is built for.
    vendors: &'static [Vendor],
    /// See [`Source::compiles_loops`].
    compiles_loops: bool,
    text: &'static str,
    read: OnceLock<Table>,
    costs: Costs,
    batches: Batches,
}

/// The texts of one library. A library is added by a row here.
struct Source {
    name: &'static str,
    /// First words of the names of its callables.
    packages: &'static [&'static str],
    vendors: &'static [Vendor],
    /// It compiles loops, once for the types that they are given, and has no functions of whole arrays: NumPy's calls beside
    /// its own go to CuPy.
    compiles_loops: bool,
    table: &'static str,
    costs: &'static str,
}

#[cfg(not(any(feature = "lean-catalogue", feature = "described-ports")))]
const CUPY: &str = include_str!("../../ports/cupy.csv");
#[cfg(feature = "lean-catalogue")]
const CUPY: &str = include_str!("../../../../target/page/cupy.txt");
#[cfg(feature = "described-ports")]
const CUPY: &str = include_str!("../../../../target/page/cupy_described.txt");
#[cfg(not(feature = "described-ports"))]
const TORCH: &str = include_str!("../../ports/torch.csv");
#[cfg(feature = "described-ports")]
const TORCH: &str = include_str!("../../../../target/page/torch_described.txt");
/// Of CuPy and of PyTorch.
#[cfg(not(any(feature = "lean-catalogue", feature = "described-ports")))]
const COSTS: [&str; 2] = [include_str!("../../ports/cupy_costs.csv"), include_str!("../../ports/torch_costs.csv")];
#[cfg(any(feature = "lean-catalogue", feature = "described-ports"))]
const COSTS: [&str; 2] =
    [include_str!("../../../../target/page/cupy_costs.txt"), include_str!("../../../../target/page/torch_costs.txt")];

/// Tables and costs of what recorded programs alone are ported to: the page that has none goes without, but for the costs
/// of cuDF, which a described data frame has.
#[cfg(not(feature = "described-ports"))]
const RECORDED: [[&str; 2]; 6] = [
    [include_str!("../../ports/cudf.csv"), include_str!("../../ports/cudf_costs.csv")],
    [include_str!("../../ports/cuml.csv"), include_str!("../../ports/cuml_costs.csv")],
    [include_str!("../../ports/jax.csv"), include_str!("../../ports/jax_costs.csv")],
    [include_str!("../../ports/numba.csv"), include_str!("../../ports/numba_costs.csv")],
    [include_str!("../../ports/tensorflow.csv"), include_str!("../../ports/tensorflow_costs.csv")],
    [include_str!("../../ports/onnxruntime.csv"), include_str!("../../ports/onnxruntime_costs.csv")],
];
#[cfg(feature = "described-ports")]
const RECORDED: [[&str; 2]; 6] =
    [["", include_str!("../../ports/cudf_costs.csv")], ["", ""], ["", ""], ["", ""], ["", ""], ["", ""]];

/// What CuPy, PyTorch, JAX, TensorFlow and ONNX Runtime have releases for; RAPIDS has them for NVIDIA's alone.
const BOTH: &[Vendor] = &[Vendor::Nvidia, Vendor::Amd];

const SOURCES: &[Source] = &[
    Source {
        name: "cupy",
        packages: &["cupy", "cupyx", "numpy", "scipy"],
        vendors: BOTH,
        compiles_loops: false,
        table: CUPY,
        costs: COSTS[0],
    },
    Source {
        name: "torch",
        packages: &[
            "aten",
            "torch",
            "torchvision",
            "c10d",
            "_c10d_functional",
            "_c10d_functional_autograd",
            "_dtensor",
            "fsdp",
            "prim",
            "profiler",
        ],
        vendors: BOTH,
        compiles_loops: false,
        table: TORCH,
        costs: COSTS[1],
    },
    Source {
        name: "cudf",
        packages: &["cudf", "duckdb", "pandas", "polars"],
        vendors: &[Vendor::Nvidia],
        compiles_loops: false,
        table: RECORDED[0][0],
        costs: RECORDED[0][1],
    },
    Source {
        name: "cuml",
        packages: &["catboost", "hdbscan", "lightgbm", "sklearn", "umap", "xgboost"],
        vendors: &[Vendor::Nvidia],
        compiles_loops: false,
        table: RECORDED[1][0],
        costs: RECORDED[1][1],
    },
    Source {
        name: "jax",
        packages: &["jax"],
        vendors: BOTH,
        compiles_loops: false,
        table: RECORDED[2][0],
        costs: RECORDED[2][1],
    },
    Source {
        name: "numba",
        packages: &["numba"],
        vendors: &[Vendor::Nvidia],
        compiles_loops: true,
        table: RECORDED[3][0],
        costs: RECORDED[3][1],
    },
    Source {
        name: "tensorflow",
        packages: &["tensorflow"],
        vendors: BOTH,
        compiles_loops: false,
        table: RECORDED[4][0],
        costs: RECORDED[4][1],
    },
    Source {
        name: "onnxruntime",
        packages: &["onnx"],
        vendors: BOTH,
        compiles_loops: false,
        table: RECORDED[5][0],
        costs: RECORDED[5][1],
    },
];

fn profiles() -> &'static [PortProfile] {
    static PROFILES: OnceLock<Vec<PortProfile>> = OnceLock::new();
    PROFILES.get_or_init(|| {
        let profile = |source: &Source| PortProfile {
            name: source.name,
            vendors: source.vendors,
            compiles_loops: source.compiles_loops,
            text: source.table,
            read: OnceLock::new(),
            costs: Costs::parse(source.costs),
            batches: Batches::of(source.name),
        };
        SOURCES.iter().map(profile).collect()
    })
}

/// NumPy and SciPy on NVIDIA and AMD GPUs by CuPy.
pub fn cupy() -> &'static PortProfile {
    &profiles()[0]
}

/// Every library.
pub fn all() -> &'static [PortProfile] {
    profiles()
}

/// The library with this name.
pub fn named(name: &str) -> Option<&'static PortProfile> {
    profiles().iter().find(|profile| profile.name == name)
}

/// The library that a callable belongs to: CuPy for `cupyx.scatter_add`, and for what is of none.
pub fn of(callable: &str) -> &'static PortProfile {
    let package = callable.split('.').next().unwrap_or_default();
    let known = SOURCES.iter().position(|source| source.packages.contains(&package));
    &profiles()[known.unwrap_or(0)]
}

impl PortProfile {
    /// The library that one callable of a program goes to: PyTorch's stay PyTorch's whatever NumPy's are ported to.
    ///
    /// ```
    /// use breakeven::port::{cupy, named};
    /// let [torch, numba] = ["torch", "numba"].map(|name| named(name).unwrap());
    /// assert_eq!(cupy().for_callable("numba.njit").name, "numba");
    /// assert_eq!(torch.for_callable("numpy.add").name, "torch");
    /// // Numba's kernels take CuPy's arrays.
    /// assert_eq!(numba.for_callable("numpy.add").name, "cupy");
    /// ```
    pub fn for_callable(&'static self, callable: &str) -> &'static Self {
        let own = of(callable);
        if own.name == cupy().name && !self.compiles_loops { self } else { own }
    }

    /// Its callables, read when one of them is asked for: most programs have one library.
    fn table(&self) -> &Table {
        self.read.get_or_init(|| Table::parse(self.text))
    }

    /// Whether it has a release for the GPUs of a maker: others are answered for, and do not count as winners.
    pub fn serves(&self, vendor: Vendor) -> bool {
        self.vendors.contains(&vendor)
    }

    /// What becomes of a callable. A name that the table does not have stays on the host.
    pub fn counterpart(&self, name: &str) -> Counterpart<'_> {
        self.table()
            .counterpart(name)
            .or_else(|| self.table().counterpart(&canonical(name)))
            .unwrap_or_else(|| not_listed(name))
    }

    /// Whether the library has nothing for a function of SciPy's, by the path of the frame that was called: it is on the
    /// host that such a function calls NumPy. Where the path has modules that users leave out, or lacks the class of a
    /// method, it goes by what its package has of that name.
    ///
    /// ```
    /// use breakeven::port::cupy;
    /// assert!(cupy().lacks("scipy.optimize.minimize") && cupy().lacks("scipy.integrate.ivp.solve_ivp"));
    /// assert!(!cupy().lacks("scipy.sparse.linalg.iterative.cg") && !cupy().lacks("scipy.sparse.__matmul__"));
    /// ```
    pub fn lacks(&self, function: &str) -> bool {
        let has = |name: &str| !matches!(self.counterpart(name), Counterpart::Host(_));
        let class = function.rsplit_once('.').map(|(class, _)| class);
        !(has(function) || class.is_some_and(has) || self.table().has_namesake(function))
    }

    /// Whether the call reads a value back by itself, so that the host waits for the device (`nonzero`, `unique`: the
    /// size of their result depends on the data).
    pub fn waits(&self, name: &str, op: &Op) -> bool {
        self.callable(name).waits(op)
    }

    /// Kernels that one call launches, as far as the library decides it; the algorithm may need more
    /// ([`crate::kernel::KernelTime::launches`]). 0 for views and what stays on the host.
    pub fn launches(&self, name: &str, op: &Op) -> u32 {
        self.callable(name).launches(op)
    }

    /// How the library does one call.
    ///
    /// ```
    /// use breakeven::port;
    /// use breakeven::workload::{Op, op::Factor};
    ///
    /// // A stack of matrices that the host factorises one after the other.
    /// let stack = Op::Factor { kind: Factor::Qr, m: 3, n: 3, rhs: 0, batch: 1000 };
    /// let alone = Op::Factor { kind: Factor::Qr, m: 3, n: 3, rhs: 0, batch: 1 };
    /// let cupy = port::cupy();
    /// let [stack, alone] = [stack, alone].map(|op| cupy.dispatch("numpy.linalg.qr", &op).p50);
    /// assert!(stack > 50.0 * alone);
    /// ```
    pub fn work(&self, name: &str, op: &Op) -> Work {
        self.callable(name).work(op)
    }

    /// Host time of one call, s, on the reference CPU (a server core at about 3 GHz): divide by the host's
    /// single-thread speed relative to that. Nothing for what stays on the host.
    pub fn dispatch(&self, name: &str, op: &Op) -> Interval {
        self.callable(name).dispatch(op)
    }

    /// Launches and host time of a call that a program itself gave to the device, whatever this library is a port of.
    pub fn written(&self, name: &str, op: &Op) -> (u32, Interval) {
        self.callable(name).written(op)
    }

    /// What the tables have of a callable, looked up once for all its calls.
    pub fn callable<'a>(&'a self, name: &'a str) -> Callable<'a> {
        Callable { profile: self, name, counterpart: self.counterpart(name), row: self.row(name) }
    }

    /// What the smallest call of the library that a port starts from takes on the reference CPU, s: NumPy's `a + b` of ten
    /// numbers for CuPy. `None` where nobody measured it.
    pub fn small_call(&self) -> Option<Interval> {
        Some(self.costs.get("small_call")).filter(|time| time.p50 > 0.0)
    }

    /// Host time of handing over one element-wise op, s.
    pub fn usual_dispatch(&self) -> Interval {
        self.costs.get("dispatch.elementwise")
    }

    /// Host time of handing over a graph of launches, s.
    pub fn graph_launch(&self) -> Interval {
        self.costs.get("graph")
    }

    /// From the launch call to the start of the kernel on an idle device, s.
    pub fn launch_latency(&self) -> Interval {
        self.costs.get("latency.launch")
    }

    /// From the end of the device's work to the host going on, s.
    pub fn sync_latency(&self) -> Interval {
        self.costs.get("latency.sync")
    }

    /// How well the weakest of its costs is known.
    pub fn basis(&self) -> Basis {
        self.costs.basis()
    }

    fn row(&self, name: &str) -> Option<&table::Row> {
        let numpys = || self.table().row(&numpy_name(name)?);
        self.table().row(name).or_else(|| self.table().row(&canonical(name))).or_else(numpys)
    }
}

const NOT_LISTED: Counterpart<'static> = Counterpart::Host("not known to breakeven");

/// What is said of a name without a row.
fn not_listed(name: &str) -> Counterpart<'static> {
    if cfg!(feature = "lean-catalogue") && of_numpy(name) { Counterpart::Host(lean::ABSENT) } else { NOT_LISTED }
}

/// Whether CuPy would have it if anything had.
fn of_numpy(name: &str) -> bool {
    name.starts_with("numpy.") || name.starts_with("scipy.")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lower::callables;
    use crate::workload::op::Factor;

    const ADD: Op = Op::Elementwise { n: 10, inputs: 2, flop_per_element: 1.0, transcendental: false };

    #[test]
    fn every_callable_has_a_counterpart_or_a_reason() {
        let ported =
            |name: &str| ["numpy.", "scipy.", "aten.", "torch."].iter().any(|package| name.starts_with(package));
        let unlisted: Vec<_> = callables()
            .iter()
            .filter(|c| ported(&c.name))
            .filter(|c| of(&c.name).counterpart(&c.name) == NOT_LISTED)
            .map(|c| &c.name)
            .collect();
        assert!(unlisted.is_empty(), "{unlisted:?}");
    }

    #[test]
    fn every_row_names_a_callable() {
        for name in profiles().iter().flat_map(|profile| profile.table().names()) {
            assert!(crate::lower::callable(name).is_some_and(|c| c.name == name), "{name}");
        }
    }

    /// What runs on the device was counted somewhere, or is as wide as what nobody counted.
    #[test]
    fn every_row_was_counted_or_is_a_decade_wide() {
        for row in crate::lower::rows(CUPY).filter(|row| &row[1] == "device") {
            let [passes, counted] = [5, 6].map(|column| row.get(column).unwrap_or_default());
            assert!(Passes::parse(passes).is_some(), "{row:?}");
            assert_eq!(counted.is_empty(), passes == "?", "{row:?}");
        }
    }

    #[test]
    fn ufunc_methods() {
        assert_eq!(cupy().counterpart("numpy.add.reduce"), Counterpart::Device("cupy.sum"));
        assert_eq!(cupy().counterpart("numpy.power.outer"), Counterpart::Device("cupy.power"));
        assert!(matches!(cupy().counterpart("numpy.power.reduce"), Counterpart::Host(_)));
    }

    #[test]
    fn views_launch_nothing() {
        let (t, add) = ("numpy.transpose", "numpy.add");
        assert_eq!((cupy().launches(t, &Op::View), cupy().launches(add, &ADD)), (0, 1));
        assert!(cupy().dispatch(t, &Op::View).p90 < cupy().dispatch(add, &ADD).p50 * 2.0);
        assert!(cupy().waits("numpy.nonzero", &ADD) && !cupy().waits(add, &ADD));
        let svd = |batch| Op::Factor { kind: Factor::Svd, m: 10, n: 10, rhs: 0, batch };
        assert!(cupy().waits("numpy.linalg.svd", &svd(1)) && !cupy().waits("numpy.linalg.svd", &svd(2)));
        let set = "numpy.ndarray.__setitem__";
        assert!(cupy().waits(set, &ADD) && !cupy().waits(set, &Op::Copy { n: 10, strided: true, inputs: 1, run: 0 }));
    }

    #[test]
    fn a_call_of_six_kernels_costs_five_more_than_one() {
        let std = cupy().dispatch("numpy.std", &ADD);
        assert_eq!(cupy().launches("numpy.ndarray.std", &ADD), 6);
        let five_more = cupy().costs.get("kernel").scale(5.0);
        assert_eq!(std, cupy().dispatch("numpy.add", &ADD) + five_more);
    }

    #[test]
    fn what_stays_on_the_host_dispatches_nothing() {
        let svd = Op::Factor { kind: Factor::Eig, m: 3, n: 3, rhs: 0, batch: 1 };
        assert_eq!(cupy().launches("scipy.linalg.schur", &svd), 0);
        assert_eq!(cupy().dispatch("numpy.add", &Op::HostOnly), Interval::exact(0.0));
    }
}
