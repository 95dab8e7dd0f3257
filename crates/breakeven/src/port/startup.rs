//! What a port pays once: import, context, library handles, first use of each kernel.

use super::{Counterpart, PortProfile};
use crate::interval::Interval;
use crate::lower::canonical;
use crate::workload::{Dtype, Entry, Family, Op, Workload};
use std::collections::{BTreeMap, BTreeSet};

/// The parts of the start-up that a workload needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Startup {
    /// In the order in which they are paid.
    pub parts: Vec<StartupPart>,
}

/// One part of the start-up.
#[derive(Clone, Debug, PartialEq)]
pub struct StartupPart {
    /// What: `import`, `context`, `cublas`, …, `kernels`.
    pub what: &'static str,
    /// How long, s.
    pub time: Interval,
}

impl Startup {
    /// All parts together, s: they are long or short together.
    pub fn total(&self) -> Interval {
        self.parts.iter().fold(Interval::exact(0.0), |total, part| total + part.time)
    }

    /// The libraries and kernels among them, s: paid where they are first used, not when the program begins.
    pub fn at_first_use(&self) -> Interval {
        let later = self.parts.iter().filter(|part| !matches!(part.what, "import" | "context"));
        later.fold(Interval::exact(0.0), |total, part| total + part.time)
    }
}

impl PortProfile {
    /// What the port of this workload pays once in a process; nothing when none of it would run on the device.
    pub fn startup(&'static self, workload: &Workload) -> Startup {
        let moved = workload.ops.iter().filter(|entry| self.moves(entry));
        self.startup_of(moved, |entry| self.for_callable(&entry.name).launches(&entry.name, &entry.op))
    }

    /// Whether an entry's work is done on the device.
    fn moves(&'static self, entry: &Entry) -> bool {
        let own = self.for_callable(&entry.name);
        entry.op.is_array_work() && matches!(own.counterpart(&entry.name), Counterpart::Device(_))
    }

    /// What a program of a product or two pays once: imports, context, the library for products.
    pub fn usual_startup(&self) -> Interval {
        let parts = ["startup.import", "startup.context", "startup.cublas"];
        parts.iter().fold(Interval::exact(0.0), |sum, key| sum + self.costs.get(key))
    }

    /// What a program pays once that was written for this library; also when it does no more than copy.
    pub fn startup_as_written(&'static self, workload: &Workload) -> Startup {
        let entries = workload.ops.iter().filter(|entry| entry.device.is_some() && entry.op.family() != Family::View);
        self.startup_of(entries, |entry| self.written(&entry.name, &entry.op).0)
    }

    /// What these entries pay at their first use of a library or a kernel, s; `written` as in
    /// [`Self::startup_as_written`].
    pub fn first_use<'a>(&'static self, entries: impl Iterator<Item = &'a Entry>, written: bool) -> Interval {
        let startup = if written {
            let own = entries.filter(|entry| entry.device.is_some() && entry.op.family() != Family::View);
            self.startup_of(own, |entry| self.written(&entry.name, &entry.op).0)
        } else {
            let moved = entries.filter(|entry| self.moves(entry));
            self.startup_of(moved, |entry| self.for_callable(&entry.name).launches(&entry.name, &entry.op))
        };
        startup.at_first_use()
    }

    fn startup_of<'a>(
        &'static self,
        entries: impl Iterator<Item = &'a Entry>,
        launches: impl Fn(&Entry) -> u32,
    ) -> Startup {
        let mut families = BTreeSet::new();
        let mut kernels: BTreeMap<(String, Dtype), u32> = BTreeMap::new();
        let mut routines = BTreeSet::new();
        for entry in entries {
            families.insert(entry.op.family());
            if let Op::Routine { .. } = entry.op {
                // Each is compiled, or loaded, as a whole: loops for types of arguments, all others for shapes too.
                let shaped = || serde_json::to_string(&entry.op).unwrap_or_default();
                let own = self.for_callable(&entry.name);
                let which = if own.compiles_loops { entry.site.to_string() } else { shaped() };
                routines.insert((own.name, entry.name.as_str(), entry.dtype, which));
            } else if compiled_at_first_use(entry.op.family()) {
                kernels.insert((canonical(&entry.name).into_owned(), entry.dtype), launches(entry));
            }
        }
        if families.is_empty() {
            return Startup::default();
        }
        // Each library compiles its own.
        let mut first_uses: BTreeMap<&str, u64> = BTreeMap::new();
        for ((name, _), &count) in &kernels {
            *first_uses.entry(self.for_callable(name).name).or_default() += u64::from(count);
        }
        for (library, ..) in &routines {
            *first_uses.entry(library).or_default() += 1;
        }
        let compiled = first_uses.iter().filter_map(|(library, &count)| {
            let each = super::named(library)?.costs.get("startup.kernel");
            (count > 0).then(|| each.scale(count as f64))
        });
        let needed = |families_of: &[Family]| families_of.iter().any(|f| families.contains(f));
        let libraries = [
            ("cublas", "startup.cublas", needed(&[Family::Matmul, Family::Factor, Family::Attention])),
            ("cusolver", "startup.cusolver", needed(&[Family::Factor])),
            ("cufft", "startup.cufft", needed(&[Family::Fft])),
            ("cusparse", "startup.cusparse", needed(&[Family::Sparse])),
            ("curand", "startup.curand", needed(&[Family::Random])),
        ];
        let part = |what, key| StartupPart { what, time: self.costs.get(key) };
        let mut parts = vec![part("import", "startup.import"), part("context", "startup.context")];
        parts.extend(libraries.into_iter().filter(|l| l.2).map(|(what, key, _)| part(what, key)));
        parts.extend(compiled.reduce(|a, b| a + b).map(|time| StartupPart { what: "kernels", time }));
        Startup { parts }
    }
}

/// Whether the library generates and compiles the kernel when it is first needed, rather than calling a vendor's.
const fn compiled_at_first_use(family: Family) -> bool {
    matches!(
        family,
        Family::Elementwise
            | Family::Reduce
            | Family::Rowwise
            | Family::Scan
            | Family::Gather
            | Family::Scatter
            | Family::Copy
            | Family::Window
            | Family::Convolution
            | Family::Embedding
    )
}

#[cfg(test)]
mod tests {
    use crate::interval::Interval;
    use crate::port::cupy;
    use crate::workload::{Workload, op::Fft};

    fn workload(ops: &str) -> Workload {
        let text = format!(r#"{{"format":"breakeven.workload/1","program":{{"name":"t","wall_ns":1}},"ops":[{ops}]}}"#);
        serde_json::from_str(&text).unwrap()
    }

    fn entry(name: &str, op: &crate::workload::Op, dtype: &str) -> String {
        let op = serde_json::to_string(op).unwrap();
        format!(r#"{{"site":0,"name":"{name}","op":{op},"dtype":"{dtype}","count":5}}"#)
    }

    #[test]
    fn nothing_on_the_device_needs_no_start() {
        let w = workload(&entry("numpy.loadtxt", &crate::workload::Op::HostOnly, "f64"));
        assert_eq!(cupy().startup(&w).total(), Interval::exact(0.0));
    }

    #[test]
    fn each_library_and_each_kernel_once() {
        let add = crate::workload::Op::Elementwise { n: 9, inputs: 2, flop_per_element: 1.0, transcendental: false };
        let fft = crate::workload::Op::Fft { kind: Fft::C2c, n: 64, batch: 1 };
        let ops = [
            entry("numpy.add", &add, "f64"),
            entry("numpy.add", &add, "f32"),
            entry("numpy.add", &add, "f64"),
            entry("numpy.fft.fft", &fft, "c128"),
        ];
        let startup = cupy().startup(&workload(&ops.join(",")));
        let what: Vec<_> = startup.parts.iter().map(|p| p.what).collect();
        assert_eq!(what, ["import", "context", "cufft", "kernels"]);
        // Two kernels: float64 and float32.
        assert_eq!(startup.parts[3].time, cupy().costs.get("startup.kernel").scale(2.0));
    }
}
