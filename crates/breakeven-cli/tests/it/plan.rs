//! `plan`: a plan file, the simple case by options, reports, conditions, and what is refused.

use super::{breakeven, said};
use std::fs;

const HEAT: &str = "../../docs/examples/heat.breakeven.json";
const EXAMPLE: &str = "../../examples/plan.toml";

fn plan(arguments: &[&str]) -> String {
    said(breakeven().arg("plan").args(arguments))
}

#[test]
fn a_recording_and_options_make_the_simple_case() {
    let text = plan(&[HEAT, "--runs-per-month", "2000", "--deadline", "8h", "--months", "36", "--quiet"]);
    assert!(text.starts_with("exit 0\n--- stdout\nStay on the CPU: ") && text.contains(" a month"), "{text}");
    assert!(text.contains("Over 36 months $"), "{text}");
    let text = plan(&[HEAT]);
    assert!(text.starts_with("exit 2\n--- stderr\nerror: ") && text.contains("runs_per_month"), "{text}");
}

#[test]
fn the_example_is_planned_in_every_form() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("plan.html");
    let text = said(breakeven().args(["plan", EXAMPLE, "--format", "json", "--html"]).arg(&page));
    let json = text.strip_prefix("exit 0\n--- stdout\n").and_then(|text| text.split("--- stderr").next()).unwrap();
    let answer: serde_json::Value = serde_json::from_str(json).unwrap();
    assert_eq!((&answer["schema"], answer["options"].as_array().map(Vec::len)), (&"breakeven.plan/1".into(), Some(6)));
    assert!(answer["mix"]["gap"].as_f64().unwrap() <= 0.01, "{}", answer["mix"]);
    let page = fs::read_to_string(page).unwrap();
    assert!(page.ends_with("</html>\n") && page.contains("<polyline"), "{page}");
}

#[test]
fn a_condition_that_holds_ends_with_1() {
    let few = ["--runs-per-month", "2000", "--gpu", "l4", "--gpu", "rtx-5090"];
    let text = plan(&[&[HEAT, "--format", "md", "--fail-if", "unmet > 0"], &few[..]].concat());
    assert!(text.starts_with("exit 0\n--- stdout\n**") && text.contains("\n### Assumed"), "{text}");
    let text = plan(&[&[HEAT, "--quiet", "--fail-if", "per_month > 0.01"], &few[..]].concat());
    assert!(text.starts_with("exit 1\n") && text.contains("--fail-if: `per_month > 0.01` holds"), "{text}");
    let text = plan(&[EXAMPLE, "--fail-if", "speed > 1"]);
    assert!(text.starts_with("exit 2\n") && text.contains("per_month > 500"), "{text}");
}

#[test]
fn a_wrong_file_is_refused_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("plan.toml");
    for (text, told) in [
        ("", "the plan has no workload"),
        ("monhts = 3\n", "line 1, column 1: unknown field `monhts`"),
        ("currency = \"EUR\"\n[[workload]]\ntimes = { l4 = 60 }\nruns_per_month = 5\n", "no rate of EUR"),
        ("[[workload]]\nrecording = \"gone.breakeven.json\"\nruns_per_month = 5\n", "gone.breakeven.json"),
    ] {
        fs::write(&file, text).unwrap();
        let said = said(breakeven().arg("plan").arg(&file));
        assert!(said.starts_with("exit 2\n--- stderr\nerror: ") && said.contains(told), "{text}: {said}");
        assert!(said.contains(" hint: "), "{said}");
    }
}
