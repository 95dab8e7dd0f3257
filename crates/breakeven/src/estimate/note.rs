//! What the reader should know beside the figures: a closed set of codes.

use serde::{Deserialize, Serialize};

/// Every code a note may have and what it means, as `docs/notes.md` lists them. Programs may rely on the code; the
/// text is for people.
pub const CODES: &[(&str, &str)] = &[
    (
        "accelerated",
        "Estimators are estimated as cuml.accel, or a boosting library itself, runs them; the text has what to type.",
    ),
    (
        "amdahl-limit",
        "Only the CPU's time and the part that can run on a GPU were given: the limit that the rest sets any GPU.",
    ),
    (
        "as-written",
        "The program uses a GPU library and is estimated as it is written; here its operations ran on the CPU.",
    ),
    ("assumed-grid", "No region was named: carbon is for the world's average electricity."),
    ("assumed-kind", "No kind of work was named, so only the limit is told."),
    (
        "assumed-work",
        "The amount of work was worked out from the CPU's time and what CPUs usually reach in that kind of work.",
    ),
    (
        "busy-decides",
        "Other programs slowed the recording down, perhaps by so much that the answer is another: record it again.",
    ),
    ("busy-machine", "Other programs had the CPU for part of the recording; that time is taken off."),
    ("by-size", "The work was told by its size and is estimated as the program in the text."),
    (
        "calibrated",
        "Times rest on what `breakeven calibrate` measured on the device; the text says on which, and when.",
    ),
    ("changed-program", "The answer is for another precision or size than recorded; the CPU's time is then modelled."),
    (
        "compiled-loops",
        "A function that Numba compiled has a loop that is no kernel, or one whose rounds end at different times; the text \
         says at which line, and why.",
    ),
    (
        "copies-by-rule",
        "The script asks for a device and runs without a GPU: what is copied there is told by a simple rule; `--pretend-gpu \
         NAME` records it exactly.",
    ),
    ("cudf-pandas", "How the script runs on a GPU unchanged, and whether pandas has to go back a version for it."),
    ("cudf-rows", "A table has more rows than a column of cuDF may have."),
    ("cut-short", "A model file ends in the middle: what is whole was read, and no verdict rests on it."),
    ("energy-cost", "A price of electricity was given or is set: costs are those of energy, not of rent."),
    (
        "frame-memory",
        "The call on data frames that needs most of the GPU's memory, and what more than it has would cost.",
    ),
    ("gpu-fell-back", "The script asked a library for a GPU; there is none, and the library ran on the CPU."),
    ("gpu-name", "A GPU was asked for by a name that is not exactly one GPU's; the text says which were taken."),
    (
        "host-pace",
        "Handing work to the GPU is taken to be as much slower (or faster) on the recording host as small calls of the \
         array library are.",
    ),
    ("idle", "More than a tenth of the time went into waiting, asleep or for something else; it counts as host time."),
    ("incomplete-prices", "Some prices are for the GPU alone; the machine around it costs extra."),
    ("larger-than-memory", "The data given is more than the memory of the GPU."),
    ("less-memory", "What would need less of the GPU's memory, and how much."),
    (
        "low-coverage",
        "Too little is understood; nothing is claimed unless the answer is the same whatever the rest would take on a GPU.",
    ),
    ("memory-split", "What the memory of a network was for when it was fullest."),
    ("model", "What a model file holds: its format, weights and operations."),
    ("model-says", "A figure was given that only the formula takes; this is what the model says of the same work."),
    ("monthly-bill", "What the runs of a month cost on the best GPU and on the CPU."),
    ("naive-port", "What copying in and out at each call would take instead of keeping arrays on the GPU."),
    ("no-array-ops", "No array operation was seen; plain Python and CPU code stay on the CPU."),
    ("no-flop", "No amount of computation was given; only memory and transfers count."),
    (
        "no-gpu",
        "The script asked for a GPU that this machine does not have, and ended; the text says by which library, at which \
         line, and what to do.",
    ),
    (
        "no-module",
        "The script imports a module that is not installed, and ended; the text says which, and at which line.",
    ),
    ("no-parameters", "A model file does not tell weights from inputs, so they are not counted apart."),
    ("no-price", "No price is known that fits what was asked; costs are unknown."),
    ("no-room", "The script ran out of the imitated GPU's memory, and ended: what it needs is more."),
    ("no-watts", "The CPU's power is unknown, and with it the energy and carbon of the CPU side."),
    (
        "not-recorded",
        "Compiled code of a library took time in which no array operation was seen; the text says whose, where, and what \
         could do it on a GPU.",
    ),
    ("not-rented", "GPUs that the provider asked for does not rent are left out."),
    ("old-prices", "Some prices are older than 30 days."),
    (
        "on-cpu",
        "Operations of a model that its runtime has no GPU kernel for: they run on the CPU, with copies there and back.",
    ),
    ("other-region", "A cloud's region was named that a price is not of; the text says where it is of."),
    ("own-clocks", "The script reads clocks; the times it printed were measured on this machine."),
    ("own-gpu", "The script ran on this machine's GPU in the time that the text gives; the CPU's time is modelled."),
    ("polars-gpu", "How lazy queries run on a GPU, and whether Polars has to go back a version for it."),
    ("port-amd", "On AMD GPUs the port is CuPy's build for ROCm."),
    (
        "port-native",
        "Intel's and Apple's GPUs are estimated as if the library served them as NVIDIA's; they are not counted as winners.",
    ),
    ("processes", "Several processes were recorded and added up."),
    ("quoted-figure", "A well-known figure was given that the catalogue does not share; the text explains it."),
    ("sampled-steps", "Steps of a loop that repeat, or short calls, were counted without each being watched or timed."),
    ("script-cut", "The script did not say how it ended; what was seen until then is reported."),
    ("script-failed", "The script ended with an exit code other than 0; what was seen until then is reported."),
    ("script-killed", "A signal ended the script; what was seen until then is reported."),
    ("several-gpus", "What is assumed of several GPUs for one run, and what of it is not divided among them."),
    (
        "single-numbers",
        "Most of what is seen is single numbers taken out of arrays; arithmetic on them is not counted.",
    ),
    (
        "stand-in",
        "The GPU, its library or the values of tensors were imitated; what the script printed may differ from a GPU's.",
    ),
    ("start-up", "The time of start-up on the GPU, and the answer once warm."),
    ("timed-span", "What the clocks that the script reads leave out or take in on a GPU: copies, set-up at first use."),
    (
        "timer-without-wait",
        "The script stops a clock while the GPU is still at work; the text says what it would show.",
    ),
    (
        "torch-compile",
        "The script compiles with torch.compile: the report is about its eager code; the rows `compiled` say what it takes then.",
    ),
    (
        "trips-unknown",
        "A loop or branch of a model file whose rounds the file does not fix: it is taken to run once, and no verdict rests on it.",
    ),
    ("unknown-op", "Operations of a model file that are not known: they count as not understood."),
    (
        "unknown-shape",
        "Arrays of a model file whose shape does not follow from the file: what reads them counts as not understood.",
    ),
    ("unseen", "Something ran that the recorder could not see; the text says what."),
];

/// Something the reader should know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Note {
    /// One of [`CODES`].
    pub code: String,
    /// One sentence.
    pub text: String,
}

impl Note {
    /// A note; `code` is one of [`CODES`].
    pub fn new(code: &str, text: impl Into<String>) -> Self {
        debug_assert!(CODES.iter().any(|(known, _)| *known == code), "`{code}` is not in CODES");
        Self { code: code.to_owned(), text: text.into() }
    }
}

#[cfg(test)]
mod tests {
    use super::CODES;

    #[test]
    fn the_page_lists_every_code_in_order() {
        let page = include_str!("../../../../docs/notes.md");
        let rows: Vec<String> = page.lines().filter(|line| line.starts_with("| `")).map(str::to_owned).collect();
        let table: Vec<String> = CODES.iter().map(|(code, means)| format!("| `{code}` | {means} |")).collect();
        assert_eq!(rows, table);
        assert!(CODES.is_sorted());
    }
}
