//! `--gpus` and its options: a network divided, a program that is none, what is typed wrong.

use super::{breakeven, says};
use serde_json::Value;

const TRANSFORMER: &str = "../../docs/examples/transformer.breakeven.json";
const HEAT: &str = "../../docs/examples/heat.breakeven.json";

fn json(args: &[&str]) -> Value {
    let out = breakeven().args(["show"]).args(args).args(["--format", "json"]).assert().success();
    serde_json::from_slice(&out.get_output().stdout).expect("JSON")
}

#[test]
fn a_network_is_divided_and_the_first_line_says_how_far_that_goes() {
    let answer = json(&[TRANSFORMER, "--gpu", "h100-sxm", "--gpus", "8", "--parallel", "fsdp"]);
    let several = &answer["several"];
    assert_eq!(several["layout"]["zero"], "zero3");
    assert_eq!(several["curve"].as_array().map(Vec::len), Some(11));
    assert_eq!(answer["summary"]["sentence"], several["sentence"]);
    let efficiency = several["at"]["efficiency"].as_f64().expect("one GPU has the memory");
    assert!(efficiency > 0.2 && efficiency <= 1.0, "{efficiency}");
    let out = breakeven().args(["show", TRANSFORMER, "--gpu", "h100-sxm", "--gpus", "8"]).assert().success();
    let text = String::from_utf8_lossy(&out.get_output().stdout).into_owned();
    assert!(text.starts_with("8 × H100 SXM"), "{text}");
    assert!(text.contains("held back by"), "{text}");
}

#[test]
fn one_gpu_answers_as_without_the_option() {
    let (one, plain) = (json(&[HEAT, "--gpu", "l4", "--gpus", "1"]), json(&[HEAT, "--gpu", "l4"]));
    assert_eq!(one["several"]["mode"], "independent_runs");
    assert_eq!(one["estimates"], plain["estimates"]);
    assert_eq!(one["several"]["at"]["time_s"], plain["estimates"][0]["time_s"]);
}

#[test]
fn what_is_typed_wrong_says_what_is_right() {
    let wrong = |args: &[&str]| says(&[&["show", TRANSFORMER, "--gpu", "l4"], args].concat());
    for (args, needle) in [
        (&["--parallel", "sideways"][..], "tp=4"),
        (&["--gpus", "6", "--parallel", "tp=4"], "6 GPUs"),
        (&["--gpus", "0"], "--gpus"),
        (&["--gpus", "8", "--network", "fast"], "fast"),
        (&["--gpus", "8", "--scaling", "medium"], "weak"),
    ] {
        let said = wrong(args);
        assert!(said.starts_with("exit 2") && said.contains(needle), "{args:?}: {said}");
    }
}
