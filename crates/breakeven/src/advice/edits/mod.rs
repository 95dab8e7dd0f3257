//! The catalogue of edits, a file each: when it applies, what becomes of the program, what to tell people.

mod blas_threads;
mod calls;
pub(super) mod cheaper_gpu;
mod columns;
pub(super) mod cuda_graphs;
mod elements;
mod fallback;
mod fewer_syncs;
mod float32;
mod frames;
pub(super) mod fuse;
mod histogram_boosting;
mod hoist_transfers;
mod in_place;
pub(super) mod inductor;
mod input_pipeline;
mod int8;
mod jit;
mod keep_resident;
mod larger_batch;
mod mixed_precision;
mod multi_gpu;
mod numba;
mod numexpr;
mod pinned_overlap;
mod products;
mod real_fft;
mod reduce_before_copy;
mod scan;
mod solve;
mod tf32;
mod vectorise;

use super::Edit;

/// Every edit of the program. `cheaper-gpu` is no edit of it and is apart.
pub(super) const EDITS: &[Edit] = &[
    fallback::EDIT,
    keep_resident::EDIT,
    hoist_transfers::EDIT,
    reduce_before_copy::EDIT,
    vectorise::EDIT,
    columns::EDIT,
    fewer_syncs::EDIT,
    jit::EDIT,
    scan::EDIT,
    solve::EDIT,
    real_fft::EDIT,
    float32::EDIT,
    mixed_precision::EDIT,
    tf32::EDIT,
    int8::EDIT,
    larger_batch::EDIT,
    fuse::EDIT,
    cuda_graphs::EDIT,
    pinned_overlap::EDIT,
    input_pipeline::EDIT,
    multi_gpu::EDIT,
    numba::EDIT,
    numexpr::EDIT,
    histogram_boosting::EDIT,
    frames::TEXT,
    frames::READER,
    frames::POLARS,
    blas_threads::EDIT,
    in_place::EDIT,
];

/// Those that have words for a program whose arrays are a compiler's: its bodies of loops and its types are changed otherwise
/// than the rest says.
pub(super) const OF_COMPILED: &[&str] = &[fewer_syncs::EDIT.id, jit::EDIT.id, scan::EDIT.id];
