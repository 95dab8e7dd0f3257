//! Which way imports of the Python package point, how long its lines are, and that each folder says what it holds.

use std::collections::{BTreeMap, BTreeSet};

use super::{files, read, root};

const PACKAGE: &str = "python/breakeven";

/// From the ground up: a module imports what is in its own layer or below, whether at its top or within a function. A
/// folder stands for all that is in it.
const LAYERS: &[&[&str]] = &[
    &["process", "events"],
    &["scipy"],
    &["learn"],
    &["numpy"],
    &["duckdb", "pandas", "polars"],
    &["numba.values", "numba.functions", "numba.loops", "numba.random_state", "numba.blocks"],
    &["numba.source"],
    &["numba.elements", "numba.threads"],
    &["numba.launches"],
    &["numba.walk"],
    &["numba.indexing"],
    &["numba.linear"],
    &["numba.array_functions", "numba.operators"],
    &["numba.callees"],
    &["numba.expressions"],
    &["numba.rounds"],
    &["numba.statements"],
    &["numba.slicing", "numba.dependence"],
    &["numba.counting", "numba.kernels"],
    &["numba.plans"],
    &["numba.calls"],
    &["numba.install"],
    &["jax.session", "jax.graph", "jax.pretend"],
    &["jax.counting"],
    &["jax.executables", "jax.selftest"],
    &["jax.calls"],
    &["jax.install"],
    &["tensorflow.operation", "tensorflow.names", "tensorflow.functions", "tensorflow.batch", "tensorflow.told"],
    &["tensorflow.loops", "tensorflow.rules"],
    &["tensorflow.graph"],
    &["tensorflow.calls"],
    &["tensorflow.eager", "tensorflow.copies", "tensorflow.pretend", "tensorflow.tracing"],
    &["tensorflow.install"],
    &["torch.session", "torch.frames", "torch.patch", "torch.dispatch_mode", "torch.memory_left"],
    &["torch.describe"],
    &["torch.real_gpu"],
    &["torch.no_gpu"],
    &["torch.trace"],
    &["torch.steps", "torch.saved_files"],
    &["torch.no_values"],
    &["torch.sides"],
    &["torch.gpu_form"],
    &["torch.device"],
    &["torch.watch"],
    &["torch.fake"],
    &["torch.imitate"],
    &["torch.out_of_memory"],
    &["torch.install"],
    &["cupy.core"],
    &["cupy.memory"],
    &["cupy.arrays"],
    &["cupy.kernels"],
    &["cupy.runtime"],
    &["cupy.scipy"],
    &["cupy.testing"],
    &["cupy.special"],
    &["cupy.modules"],
    &["cupy.loading"],
    &["cupy.offer"],
    &["measure.port"],
    &["measure.clocks", "measure.compare", "measure.energy", "measure.float64", "measure.kept", "measure.sandbox"],
    &["measure.run"],
    &["calibrate.clock"],
    &["calibrate.cpu", "calibrate.costs"],
    &["calibrate.gpu"],
    &["calibrate.run"],
    &["run.process"],
    &["run.launch", "run.children"],
    &["api.errors", "api.reasons"],
    &["api.advice", "api.options", "api.fleet"],
    &["api.estimate"],
    &["api.record"],
    &["api.ipython"],
    &["_run", "__main__", "__init__"],
];

/// State is in objects that have a type; what few modules assign to themselves is counted.
const MOST_GLOBAL: usize = 8;

/// Modules of the package by name, each with the file that holds it. A folder's own file is none of them.
fn modules() -> BTreeMap<String, String> {
    let named = |path: String| {
        let inside = path.strip_prefix(PACKAGE)?.trim_start_matches('/').strip_suffix(".py")?;
        (!inside.ends_with("/__init__")).then(|| (inside.replace('/', "."), path.clone()))
    };
    files(PACKAGE, "py").into_iter().filter_map(named).collect()
}

/// The statements of a source that import, each on one line, with the number of the line it begins on.
fn imports(path: &str) -> Vec<(usize, String)> {
    let text = read(path);
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((i, line)) = lines.next() {
        let line = line.trim();
        if !line.starts_with("from .") && !line.starts_with("from breakeven") && !line.starts_with("import breakeven") {
            continue;
        }
        let mut statement = line.to_owned();
        while statement.contains('(') && !statement.contains(')') {
            let Some((_, more)) = lines.next() else { break };
            statement.push_str(more.trim());
        }
        found.push((i + 1, statement));
    }
    found
}

/// The modules that a statement imports in the module of this name.
fn imported(module: &str, statement: &str, modules: &BTreeMap<String, String>) -> Vec<String> {
    let Some((from, names)) = statement.strip_prefix("from ").and_then(|rest| rest.split_once(" import ")) else {
        let name = statement.trim_start_matches("import ").split_whitespace().next().unwrap_or("");
        let name = name.trim_start_matches("breakeven").trim_start_matches('.').to_owned();
        return if modules.contains_key(&name) { vec![name] } else { Vec::new() };
    };
    let dots = from.len() - from.trim_start_matches('.').len();
    let mut base: Vec<&str> = module.split('.').collect();
    base.truncate(base.len().saturating_sub(dots));
    if dots == 0 {
        base.clear();
    }
    let inside = if dots == 0 { from.trim_start_matches("breakeven").trim_start_matches('.') } else { &from[dots..] };
    base.extend(inside.split('.').filter(|part| !part.is_empty()));
    let base = base.join(".");
    let names = names.trim_matches(['(', ')']).split(',').map(|name| name.split_whitespace().next().unwrap_or(""));
    let targets = names.filter(|name| !name.is_empty()).map(|name| {
        let below = if base.is_empty() { name.to_owned() } else { format!("{base}.{name}") };
        if modules.contains_key(&below) { below } else { base.clone() }
    });
    targets.filter(|target| modules.contains_key(target)).collect()
}

/// Whom each module imports, with the number of the line that does.
fn arrows() -> BTreeMap<String, Vec<(usize, String)>> {
    let modules = modules();
    let of = |(module, path): (&String, &String)| {
        let found = imports(path).into_iter().flat_map(|(line, statement)| {
            imported(module, &statement, &modules).into_iter().map(move |target| (line, target))
        });
        (module.clone(), found.collect())
    };
    modules.iter().map(of).collect()
}

/// How high a module is.
fn layer(module: &str) -> usize {
    let holds = |name: &&str| module.strip_prefix(*name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
    let found = LAYERS.iter().position(|layer| layer.iter().any(holds));
    found.unwrap_or_else(|| panic!("{module} is in no layer"))
}

#[test]
fn imports_of_the_package_go_down() {
    for (module, targets) in arrows() {
        for (line, target) in targets {
            assert!(layer(&target) <= layer(&module), "{module}:{line} imports {target}, which is above it");
        }
    }
}

/// The modules that are reached from one, but by way of `done`; panics where that is one of `way`.
fn visit(
    module: &str,
    arrows: &BTreeMap<String, Vec<(usize, String)>>,
    way: &mut Vec<String>,
    done: &mut BTreeSet<String>,
) {
    assert!(!way.iter().any(|before| before == module), "a circle of imports: {} {module}", way.join(" → "));
    if !done.contains(module) {
        way.push(module.to_owned());
        for (_, target) in &arrows[module] {
            visit(target, arrows, way, done);
        }
        way.pop();
        done.insert(module.to_owned());
    }
}

#[test]
fn no_module_of_the_package_imports_itself_by_way_of_others() {
    let (arrows, mut done) = (arrows(), BTreeSet::new());
    assert!(arrows.values().map(Vec::len).sum::<usize>() > 500, "imports are read");
    for module in arrows.keys() {
        visit(module, &arrows, &mut Vec::new(), &mut done);
    }
}

#[test]
fn state_is_in_objects() {
    let globals = modules().into_values().flat_map(|path| {
        let lines: Vec<_> = read(&path).lines().map(str::to_owned).collect();
        lines.into_iter().filter(|line| line.trim().starts_with("global ")).map(move |line| format!("{path}: {line}"))
    });
    let globals: Vec<String> = globals.collect();
    assert!(globals.len() <= MOST_GLOBAL, "{globals:#?}");
}

/// Folders of scripts that are recorded: they are as people write them.
const RECORDED: [&str; 9] = [
    "python/tests/advice/",
    "python/tests/cases/",
    "python/tests/healthy/",
    "python/tests/recorders/jax/scripts/",
    "python/tests/recorders/pandas/scripts/",
    "python/tests/recorders/polars/scripts/",
    "python/tests/programs/",
    "python/tests/scripts/",
    "bench/edits/",
];

#[test]
fn lines_of_python_are_short() {
    let folders = ["python", "bench", "accuracy/measure", ".ci", "examples", "findings"];
    for path in folders.into_iter().flat_map(|folder| files(folder, "py")) {
        if RECORDED.iter().any(|folder| path.starts_with(folder)) {
            continue;
        }
        // So are scripts that tests have in strings of several lines.
        let (of_test, mut in_string) = (path.starts_with("python/tests/"), false);
        for (i, line) in read(&path).lines().enumerate() {
            let columns = line.chars().count();
            assert!(columns <= 120 || (of_test && in_string), "{path}:{} has {columns} columns", i + 1);
            in_string ^= line.matches("\"\"\"").count() % 2 == 1;
        }
    }
}

#[test]
fn each_folder_of_the_package_says_what_it_holds() {
    for path in files(PACKAGE, "py") {
        let (folder, name) = path.rsplit_once('/').expect("it is in a folder");
        if name != "__init__.py" {
            let text = read(&format!("{folder}/README.md"));
            assert!(text.contains(&format!("| `{name}` |")), "{folder}/README.md has no row for {name}");
        }
    }
    for path in files(PACKAGE, "md") {
        let (folder, _) = path.rsplit_once('/').expect("it is in a folder");
        for row in read(&path).lines().filter_map(|line| line.strip_prefix("| `")) {
            let name = row.split('`').next().unwrap_or("");
            assert!(root().join(folder).join(name).exists(), "{path} has a row for {name}, which does not exist");
        }
    }
}
