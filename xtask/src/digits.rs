//! The engine says the same in the browser as natively: each request is answered by both, and the bytes compared.

use crate::shell::{Result, read, root, run, write};
use crate::wasm;
use breakeven::estimate::program;
use breakeven::report;
use breakeven::request::Request;
use breakeven::workload::Workload;
use serde_json::json;
use std::process::Command;

const TODAY: &str = "2026-11-21";
/// Requests made up beside the written ones.
const RANDOM: u64 = 2000;

/// Answers every request natively and in Node, by the engine of each page.
pub(crate) fn check() -> Result<()> {
    let folder = wasm::build("breakeven-wasm", "engine", wasm::OF_CALCULATOR)?;
    wasm::build("breakeven-report-wasm", "report_engine", wasm::OF_REPORT)?;
    let numbers = requests().into_iter().map(|request| {
        let answer = breakeven::answer::answer(&request);
        [request, answer]
    });
    let numbers: Vec<[String; 2]> = numbers.collect();
    let refused = numbers.iter().filter(|[_, answer]| answer.starts_with(r#"{"error""#)).count();
    let programs = programs()?;
    let file = folder.join("digits.json");
    write(&file, json!({ "numbers": numbers, "programs": programs, "today": TODAY }).to_string().as_bytes())?;
    run(Command::new("node").arg(root().join("xtask/src/digits.mjs")).arg(folder).arg(&file))?;
    eprintln!(
        "{} requests ({refused} of them refused) and {} reports, the same bytes natively and on wasm",
        numbers.len(),
        programs.len()
    );
    Ok(())
}

/// Programs, the options that they are asked under, and the report as JSON: on all GPUs, in other places, on other CPUs.
fn programs() -> Result<Vec<[String; 3]>> {
    let mut all = Vec::new();
    for file in ["docs/examples/heat.breakeven.json", "crates/breakeven/tests/workloads/lose_one_pass.breakeven.json"] {
        let text = read(&root().join(file))?;
        for options in [
            r#"{"gpu":[]}"#,
            r#"{"gpu":["h100","NVIDIA GeForce RTX 3080","p4d.24xlarge"],"region":"Germany","spot":true}"#,
            r#"{"gpu":["T4","L4","MI300X"],"cpu":"EPYC 7763","region":"us-east-1"}"#,
        ] {
            let answer = native(&text, options).map_err(|e| format!("{file} under {options}: {e}"))?;
            all.push([text.clone(), options.to_owned(), answer]);
        }
    }
    Ok(all)
}

/// The report of a workload file under these options, as JSON.
fn native(file: &str, options: &str) -> Result<String> {
    let workload = Box::new(Workload::from_json(file.as_bytes()).map_err(|e| e.to_string())?);
    let options = serde_json::from_str(options).map_err(|e| e.to_string())?;
    let request = Request { workload: Some(workload), options, today: TODAY.to_owned(), ..Request::default() };
    let estimate = program::estimate(request.workload.as_ref().expect("just set"), &request);
    estimate.map(|estimate| report::json(&estimate)).map_err(|e| e.to_string())
}

/// The published table, every input in turn, and random ones that are the same at each run.
fn requests() -> Vec<String> {
    let table = [100.0, 206.6, 1e3, 1e4, 1e5].map(|gflop| {
        format!(r#"{{"today":"2026-11-21","numbers":{{"flops":"{gflop} GFLOP","cpu_rate":"400GFLOP/s","peak":"12.5TFLOP/s","utilization":1,"python_overhead":0,"init":0.5}}}}"#)
    });
    let mut random = Random(0x0b5e_55ed);
    let made = (0..RANDOM).map(|_| random.request());
    table.into_iter().chain(made).collect()
}

/// Numbers that look random and are the same at each run (splitmix64; Steele, Lea & Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// From 10^`low` to 10^`high`, evenly over the magnitudes; as text, so that both sides read it.
    fn magnitude(&mut self, low: f64, high: f64) -> String {
        format!("{:e}", 10_f64.powf(low + (high - low) * self.share()))
    }

    /// A whole number from 1 to 10^`high`, evenly over the magnitudes.
    fn count(&mut self, high: f64) -> String {
        format!("{:.0}", 10_f64.powf(high * self.share()))
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[(self.next() % of.len() as u64) as usize]
    }

    /// A request with about half of the inputs given.
    fn request(&mut self) -> String {
        let mut numbers = vec![match self.next() % 5 {
            0 => format!(r#""matmul":{}"#, self.next() % 20_000),
            1 => format!(r#""parameters":{},"tokens":{}"#, self.count(12.0), self.count(13.0)),
            2 => format!(r#""elements":{},"operations":{}"#, self.next() % 10_000_000_000, self.magnitude(0.0, 4.0)),
            3 => format!(r#""rows":{}"#, self.next() % 10_000_000_000),
            _ => format!(r#""flops":{}"#, self.magnitude(3.0, 20.0)),
        }];
        let ranges = [
            ("bytes", 3.0, 14.0),
            ("data", 0.0, 13.0),
            ("data_out", 0.0, 13.0),
            ("link", 8.0, 11.0),
            ("init", -4.0, 1.0),
            ("cpu_rate", 7.0, 13.0),
            ("peak", 10.0, 15.5),
            ("bandwidth", 9.0, 13.0),
        ];
        // A rate or a factor asks the formula; the rest is the model's.
        let of_formula = self.next().is_multiple_of(2);
        for (name, low, high) in ranges.into_iter().filter(|_| of_formula) {
            if self.next().is_multiple_of(3) {
                let value = self.magnitude(low, high);
                numbers.push(format!(r#""{name}":{value}"#));
            }
        }
        for (name, most) in [("gpus", 1.2), ("values", 12.0)].into_iter().filter(|_| of_formula) {
            if self.next().is_multiple_of(3) {
                let count = self.count(most);
                numbers.push(format!(r#""{name}":{count}"#));
            }
        }
        let shares = ["utilization", "python_overhead", "parallel_fraction", "scaling_efficiency", "workload_factor"];
        for name in shares.into_iter().filter(|_| of_formula) {
            if self.next().is_multiple_of(4) {
                numbers.push(format!(r#""{name}":{}"#, self.share()));
            }
        }
        if of_formula {
            numbers.push(format!(r#""kind":"{}""#, self.pick(&["array", "simulation", "training", "inference"])));
        }
        numbers
            .push(format!(r#""precision":"{}""#, self.pick(&["fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8"])));
        let gpu =
            self.pick(&["[]", r#"["RTX 3080"]"#, r#"["h100"]"#, r#"["T4","L4","MI300X"]"#, r#"["no such card"]"#]);
        let region = self.pick(&["null", r#""Germany""#, r#""us-east-1""#]);
        format!(
            r#"{{"today":"2026-11-21","numbers":{{{}}},"options":{{"gpu":{gpu},"region":{region}}}}}"#,
            numbers.join(",")
        )
    }
}
