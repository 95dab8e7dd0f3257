//! The committed figures of carried times are good enough, and the table that ships is theirs.

use serde_json::Value;

fn ledger() -> Value {
    serde_json::from_str(include_str!("../../ledger-carry.json")).expect("`carry --format json`")
}

#[test]
fn the_table_that_ships_is_that_of_the_ledger() {
    assert_eq!(ledger()["spread"].as_str(), Some(include_str!("../../../crates/breakeven/src/carry/spread.csv")));
}

#[test]
fn networks_of_left_out_gpus_are_within_their_thresholds() {
    let ledger = ledger();
    let traced = |key: &str| ledger["summary"]["traced"][key].as_f64().expect("a number");
    assert!(traced("pairs") >= 20.0);
    assert!(traced("mean_ape") <= 0.05, "{}", traced("mean_ape"));
    assert!((0.75..=0.90).contains(&traced("coverage80")), "{}", traced("coverage80"));
    assert!(traced("width80") <= 0.8 * traced("model_width80"));
}
