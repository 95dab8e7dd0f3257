//! Settings from files: which file holds, what wins, what is said of a wrong one.

use super::{breakeven, said};
use std::fs;
use std::path::Path;
use tempfile::TempDir;

/// A repository with a folder `sub`, and a home, each with its file where a text is given.
fn place(project: &str, user: &str) -> TempDir {
    let place = tempfile::tempdir().unwrap();
    for folder in ["repository/.git", "repository/sub", "home/.config/breakeven"] {
        fs::create_dir_all(place.path().join(folder)).unwrap();
    }
    for (file, text) in [("repository/breakeven.toml", project), ("home/.config/breakeven/config.toml", user)] {
        if !text.is_empty() {
            fs::write(place.path().join(file), text).unwrap();
        }
    }
    place
}

/// What a call in `sub` says.
fn says(place: &Path, arguments: &[&str], environment: &[(&str, &str)]) -> String {
    let mut command = breakeven();
    command.env_remove("BREAKEVEN_CONFIG").env_remove("XDG_CONFIG_HOME").env("HOME", place.join("home"));
    command.current_dir(place.join("repository/sub")).args(arguments).envs(environment.iter().copied());
    said(&mut command).replace(place.canonicalize().unwrap().to_str().unwrap(), "PLACE")
}

const PROJECT: &str = "# of the project\ngpu = ['t4', 'l4']\nruns-per-month = 1000\n";
const USER: &str = "gpu = 'a100'\nregion = 'france'\n";

#[test]
fn the_projects_file_wins_over_the_users() {
    let place = place(PROJECT, USER);
    insta::assert_snapshot!(says(place.path(), &["config"], &[]), @r#"
    exit 0
    --- stdout
      setting         value   from
      gpu             t4, l4  PLACE/repository/breakeven.toml:2
      region          france  PLACE/home/.config/breakeven/config.toml:2
      provider                not set; write it like provider = "AWS"
      provider-class          not set; write it like provider-class = "cloud"
      runs-per-month  1000    PLACE/repository/breakeven.toml:3
      electricity             not set; write it like electricity = 0.25
    "#);
    insta::assert_snapshot!(says(place.path(), &["config"], &[("BREAKEVEN_CONFIG", "")]), @r#"
    exit 0
    --- stdout
      setting         from
      gpu             not set; write it like gpu = ["l4", "h100-sxm"]
      region          not set; write it like region = "eu-west-1"
      provider        not set; write it like provider = "AWS"
      provider-class  not set; write it like provider-class = "cloud"
      runs-per-month  not set; write it like runs-per-month = 3000
      electricity     not set; write it like electricity = 0.25
    "#);
    let own = place.path().join("own.toml");
    fs::write(&own, "provider = 'AWS'").unwrap();
    let said = says(place.path(), &["config"], &[("BREAKEVEN_CONFIG", own.to_str().unwrap())]);
    assert!(said.contains("provider        AWS") && !said.contains("france"), "{said}");
    assert_eq!(
        says(place.path(), &["--no-config", "config"], &[]),
        says(place.path(), &["config", "--no-config"], &[])
    );
}

#[test]
fn a_file_above_the_repository_is_of_another_project() {
    let place = place("", "");
    fs::write(place.path().join("breakeven.toml"), PROJECT).unwrap();
    assert!(!says(place.path(), &["config"], &[]).contains("t4"));
}

#[test]
fn options_win_over_settings() {
    let place = place(PROJECT, "electricity = 0.5\n");
    let asked = |more: &[&str]| {
        let mut all = vec!["estimate", "--flops", "10TFLOP", "--cpu-rate", "400GFLOP/s", "--format", "json"];
        all.extend(more);
        let text = says(place.path(), &all, &[]);
        let answer: serde_json::Value = serde_json::from_str(text.split_once("--- stdout\n").unwrap().1).unwrap();
        answer["options"].clone()
    };
    let set = asked(&[]);
    assert_eq!((&set["gpu"], &set["runs_per_month"]), (&serde_json::json!(["t4", "l4"]), &"1000".into()));
    assert_eq!(set["electricity"], "0.5");
    assert_eq!(asked(&["--gpu", "h100-sxm"])["gpu"], serde_json::json!(["h100-sxm"]));
    assert_eq!(asked(&["--price", "2"])["electricity"], serde_json::Value::Null);
    assert_eq!(asked(&["--no-config"])["gpu"], serde_json::json!([]));
}

#[test]
fn a_report_says_that_electricity_is_set() {
    let place = place("", "electricity = 0.5\n");
    let asked =
        |more: &[&str]| says(place.path(), &[&["estimate", "--matmul", "8000", "--gpu", "l4"], more].concat(), &[]);
    let told = "costs are those of electricity at $0.5/kWh, not of rent";
    assert!(asked(&[]).contains(told), "{}", asked(&[]));
    assert!(!asked(&["--no-config"]).contains("electricity") && !asked(&["--price", "1"]).contains("electricity"));
}

#[test]
fn a_wrong_file_is_told_with_its_line() {
    let cases = [
        "reigon = 'france'",
        "gpu = 'l4'\ngpu = 't4'",
        "region = 'atlantis'",
        "electricity = '3 apples'",
        "\ngpu = 'rtx 3081'",
    ];
    let asked = ["estimate", "--flops", "10TFLOP", "--cpu-rate", "400GFLOP/s"];
    let said = cases.map(|text| says(place(text, "").path(), &asked, &[]).replace("PLACE", "…"));
    insta::assert_snapshot!(said.join("\n"), @r#"
    exit 2
    --- stderr
    error: …/repository/breakeven.toml:1: there is no setting `reigon`
     hint: did you mean `region`? settings are gpu, region, provider, provider-class, runs-per-month, electricity

    exit 2
    --- stderr
    error: …/repository/breakeven.toml:2 is no TOML: duplicate key
     hint: a line is a setting and its value, as in gpu = ["l4", "h100-sxm"]

    exit 2
    --- stderr
    error: …/repository/breakeven.toml:1: no country or cloud region is called `atlantis`
     hint: a country (`Germany`, `DE`), a state of the USA (`California`) or a cloud region (`us-east-1`)

    exit 2
    --- stderr
    error: …/repository/breakeven.toml:1: `3 apples` has the unit `apples`; a price of electricity has $/kWh, USD/kWh, ct/kWh, $/MWh
     hint: write it like `$0.12/kWh`; a bare number is in $/kWh

    exit 2
    --- stderr
    error: …/repository/breakeven.toml:2: no GPU of the catalogue is called `rtx 3081`
     hint: nearest in kind to `rtx 3081` (NVIDIA GeForce, about 2020): rtx-3080-10gb (2020), rtx-3090 (2020), rtx-3080-ti (2021); `breakeven gpus` lists every name, --catalogue adds your own
    "#);
    // It is no matter of a command that takes no settings.
    assert!(says(place(cases[0], "").path(), &["gpus", "l4"], &[]).starts_with("exit 0"));
    let missing = says(place("", "").path(), &["config"], &[("BREAKEVEN_CONFIG", "/nowhere.toml")]);
    assert!(missing.contains("error: cannot read /nowhere.toml: no such file or directory\n hint: "), "{missing}");
}

#[test]
fn a_table_of_kernels_is_timed_on_the_gpus_that_are_set() {
    let place = place("gpu = 'l4'", "");
    let table = place.path().join("ops.csv");
    for (text, gpu) in [("op,m,n,k\nmatmul,64,64,64\n", "l4"), ("op,m,n,k,gpu\nmatmul,64,64,64,t4\n", "t4")] {
        fs::write(&table, text).unwrap();
        let said = says(place.path(), &["kernels", table.to_str().unwrap()], &[]);
        assert!(said.contains(gpu), "{said}");
    }
}
