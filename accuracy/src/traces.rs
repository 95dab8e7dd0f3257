//! `networks/traces/GPU/NETWORK.csv`: the measured time of each node of a network by itself, as kernels.

use crate::Result;
use crate::data::{Gpus, Kernel, protocol};
use crate::graph::{self, Call, Node};
use breakeven::workload::Dtype;
use std::path::{Path, PathBuf};

const FILE: &str = "networks/traces";

/// Reads every trace below `folder`; a folder in it is named after its GPU.
pub fn read(folder: &Path, gpus: &mut Gpus, kernels: &mut Vec<Kernel>) -> Result<()> {
    for board in entries(folder)? {
        let name = board.file_name().unwrap_or_default().to_string_lossy().into_owned();
        for file in entries(&board)?.into_iter().filter(|f| f.extension().is_some_and(|e| e == "csv")) {
            trace(&file, &name, gpus, kernels).map_err(|e| format!("{}: {e}", file.display()))?;
        }
    }
    Ok(())
}

/// What a folder holds, in order; nothing where there is no such folder.
fn entries(folder: &Path) -> Result<Vec<PathBuf>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut paths: Vec<PathBuf> = folder.read_dir()?.map(|e| e.map(|e| e.path())).collect::<std::io::Result<_>>()?;
    paths.sort();
    Ok(paths)
}

fn trace(file: &Path, board: &str, gpus: &mut Gpus, kernels: &mut Vec<Kernel>) -> Result<()> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_path(file)?;
    let header = reader.headers()?.clone();
    for row in reader.records() {
        let row = row?;
        let cell = |name| header.iter().position(|h| h == name).and_then(|i| row.get(i)).unwrap_or_default();
        let Some(us) = cell("fw_us").parse::<f64>().ok().filter(|us| *us > 0.0) else { continue };
        // `[['VECadd', (8192, 1024)]]`; nodes of several calls have no time of their own for each.
        let parts: Vec<&str> = cell("FwOps").split('\'').collect();
        let [_, op, args] = parts.as_slice() else { continue };
        let (kind, in_shapes, out_shape) = (cell("OpName"), cell("input_shapes"), cell("output_shape"));
        let node = Node { op, kind, phase: "fw", idx: "0", args, in_shapes, out_shape };
        let Call::Kernel(op) = graph::call(&node, false) else { continue };
        let Some(gpu) = gpus.index(board) else { return Ok(()) };
        let label = node.op.trim_start_matches("VEC").to_ascii_lowercase();
        let protocol = protocol(FILE, &label, Dtype::F32, board);
        kernels.push(Kernel {
            test: true,
            floor: protocol.floor,
            events: protocol.event_share * protocol.floor,
            burst: protocol.burst,
            hot: protocol.hot,
            fitted: protocol.fitted,
            library: protocol.library,
            neusight: cell("neusight_us").parse().ok().filter(|us: &f64| *us > 0.0).map(|us| us * 1e-6),
            ..Kernel::timed(FILE, gpu, [label, "fp32".into()], (op, Dtype::F32), us * 1e-6)
        });
    }
    Ok(())
}
