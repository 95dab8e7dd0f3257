//! The engine for the report page: one workload, asked again and again with other options.
//!
//! The calculator's page has an engine of its own without workloads, half as large. Everything is computed and rounded
//! by the core; this crate only carries text across the border.

use breakeven::estimate::{self, Estimate, Look, program};
use breakeven::hardware::Catalogue;
use breakeven::report::words;
use breakeven::request::{Request, Sizes};
use breakeven::timeline::sketch::ROWS;
use breakeven::workload::Workload;
use breakeven::{Error, answer, report};
use wasm_bindgen::prelude::wasm_bindgen;

/// A workload that is open, and the timeline that is looked at.
#[wasm_bindgen]
pub struct Report {
    request: Request,
    look: Option<Look>,
}

#[wasm_bindgen]
impl Report {
    /// Reads a workload file, unpacked.
    ///
    /// # Errors
    /// `{"error": {…}}` as JSON: what the file is instead, or where it is wrong.
    #[wasm_bindgen(constructor)]
    pub fn new(file: &[u8]) -> Result<Self, String> {
        let workload = Workload::from_json(file).map_err(refused)?;
        Ok(Self { request: Request { workload: Some(Box::new(workload)), ..Request::default() }, look: None })
    }

    /// Takes the runs of the same program at other sizes, as in `sizes` of `breakeven.request/1`, JSON: every answer from
    /// now on is asked with them. Gives all sizes, that of the open run first.
    ///
    /// # Errors
    /// `{"error": {…}}` as JSON.
    #[wasm_bindgen(js_name = setSizes)]
    pub fn set_sizes(&mut self, sizes: &[u8]) -> Result<Vec<f64>, String> {
        let sizes: Sizes =
            serde_json::from_slice(sizes).map_err(|e| refused(Error::new("bad-sizes", e.to_string())))?;
        let all = [sizes.now].into_iter().chain(sizes.others.iter().map(|run| run.scale)).collect();
        self.request.sizes = Some(sizes);
        Ok(all)
    }

    /// Whether the program uses a GPU library itself: what is copied when is then its own affair.
    pub fn written(&self) -> bool {
        self.workload().ops.iter().any(|entry| entry.device.is_some())
    }

    /// The report under these options (JSON, as in `breakeven.request/1`), as HTML.
    ///
    /// # Errors
    /// `{"error": {…}}` as JSON.
    pub fn html(&mut self, options: &str, today: &str) -> Result<String, String> {
        self.estimate(options, today).map(|e| report::html(&e, false)).map_err(refused)
    }

    /// The same answer as Markdown, or as the JSON of `--format json`.
    ///
    /// # Errors
    /// `{"error": {…}}` as JSON.
    pub fn text(&mut self, options: &str, today: &str, markdown: bool) -> Result<String, String> {
        // The page asks for a sketch of the timeline of its own.
        let text = |e| report::markdown(&Estimate { timeline: None, ..e }, false);
        let written = |e: Estimate| if markdown { text(e) } else { report::json(&e) };
        self.estimate(options, today).map(written).map_err(refused)
    }

    /// Lays out the timeline on the first GPU of the options; the windows asked for from then on are of it. Gives its
    /// GPU, its length and that of start-up in seconds, and the names of its rows, as JSON.
    ///
    /// # Errors
    /// `{"error": {…}}` as JSON; `does-not-fit` where there is none.
    pub fn look(&mut self, options: &str, today: &str) -> Result<String, String> {
        self.look = None;
        self.set(options, today).map_err(refused)?;
        let look = estimate::look(self.workload(), &self.request).map_err(refused)?;
        let told = serde_json::json!({
            "gpu": look.gpu, "span_s": look.span_s, "startup_s": look.startup_s, "rows": ROWS
        });
        self.look = Some(look);
        Ok(told.to_string())
    }

    /// How busy each row was, 0 to 1, in `columns` equal parts of the time from `from` to `to` seconds: the columns of
    /// the first row, then those of the next. Empty where no timeline is laid out.
    pub fn shares(&self, from: f64, to: f64, columns: usize) -> Vec<f32> {
        self.look.as_ref().map_or_else(Vec::new, |look| look.zoom.shares(from, to, columns))
    }

    /// Every stretch between `from` and `to` as row, start, length and task; empty where there are more than `most`.
    pub fn pieces(&self, from: f64, to: f64, most: usize) -> Vec<f64> {
        let pieces = self.look.as_ref().and_then(|look| look.zoom.pieces(from, to, most)).unwrap_or_default();
        pieces.iter().flat_map(|p| [p.row as f64, p.start, p.length, f64::from(p.task)]).collect()
    }

    /// The window in words: `from 1.2 s, 50 µs long: Python 20 %, kernels 70 %`.
    pub fn say(&self, from: f64, to: f64) -> String {
        let Some(look) = &self.look else { return String::new() };
        let shares = look.zoom.shares(from, to, 1);
        let busy = ROWS.iter().zip(shares).filter(|(_, share)| *share > 0.0);
        let busy: Vec<String> = busy.map(|(row, share)| format!("{row} {}", words::share(f64::from(share)))).collect();
        let busy = if busy.is_empty() { "nothing".to_owned() } else { busy.join(", ") };
        format!("From {}, {} long: {busy}", words::moment(from, to - from), words::seconds(to - from))
    }

    /// What a task is, for people; nothing for the time outside all ops.
    pub fn task(&self, index: usize) -> String {
        self.look.as_ref().and_then(|look| look.names.get(index)).cloned().unwrap_or_default()
    }

    fn workload(&self) -> &Workload {
        self.request.workload.as_ref().expect("it is set where this is made")
    }

    fn set(&mut self, options: &str, today: &str) -> Result<(), Error> {
        self.request.options =
            serde_json::from_slice(options.as_bytes()).map_err(|e| Error::new("bad-request", e.to_string()))?;
        self.request.today = today.to_owned();
        Ok(())
    }

    fn estimate(&mut self, options: &str, today: &str) -> Result<Estimate, Error> {
        self.set(options, today)?;
        program::estimate(self.workload(), &self.request)
    }
}

/// The names of the GPUs there are.
#[wasm_bindgen]
pub fn gpus() -> Vec<String> {
    Catalogue::embedded().gpus().iter().map(|gpu| gpu.device.name.clone()).collect()
}

/// A duration in seconds as every report prints it.
#[wasm_bindgen]
pub fn seconds(x: f64) -> String {
    words::seconds(x)
}

/// A point in time, exact enough to be told from others in a window of `width` seconds.
#[wasm_bindgen]
pub fn moment(at: f64, width: f64) -> String {
    words::moment(at, width)
}

fn refused(error: Error) -> String {
    answer::refusal(&error)
}
