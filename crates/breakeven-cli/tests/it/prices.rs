//! `prices`: offers, their age, what is not complete.

use super::{breakeven, says};

#[test]
fn every_offer_of_a_gpu_cheapest_first_with_its_age() {
    let output = breakeven().args(["prices", "t4", "--format", "json"]).output().unwrap();
    let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let offers = list["prices"].as_array().unwrap();
    let price = |o: &serde_json::Value| o["usd_per_h"].as_f64().unwrap();
    let complete: Vec<f64> = offers.iter().filter(|o| o["incomplete"] == false).map(price).collect();
    assert!(complete.len() > 2 && complete.is_sorted());
    assert!(list["notes"][0].as_str().unwrap().contains("days old"));
}

#[test]
fn the_cheapest_of_each_gpu() {
    let text = says(&["prices"]);
    let rows = text.lines().filter(|l| l.starts_with("  T4 ")).count();
    assert_eq!(rows, 1, "{text}");
    assert!(text.contains("\nnote: "), "{text}");
}

#[test]
fn spot_is_no_dearer() {
    let cheapest = |arguments: &[&str]| {
        let output = breakeven().args(["prices", "h100-sxm", "--format", "json"]).args(arguments).output().unwrap();
        let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        list["prices"][0]["usd_per_h"].as_f64().unwrap()
    };
    assert!(cheapest(&["--spot"]) <= cheapest(&[]));
}

#[test]
fn clouds_and_marketplaces_are_told_apart() {
    let classes = |arguments: &[&str]| -> Vec<String> {
        let output = breakeven().args(["prices", "rtx-4090", "--format", "json"]).args(arguments).output().unwrap();
        let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let class = |o: &serde_json::Value| o["class"].as_str().unwrap().to_owned();
        list["prices"].as_array().unwrap().iter().map(class).collect()
    };
    let all = classes(&[]);
    assert!(all.iter().any(|class| class == "cloud") && all.iter().any(|class| class == "marketplace"));
    for class in ["cloud", "marketplace"] {
        assert!(classes(&["--provider-class", class]).iter().all(|found| found == class), "{class}");
    }
    let text = says(&["prices", "--provider-class", "shop"]);
    assert!(text.contains("no class of providers is called `shop`\n hint: cloud, marketplace or all"), "{text}");
}

#[test]
fn places_are_listed_with_their_sources() {
    let all = says(&["grids"]);
    assert!(all.contains("eu-north-1") && all.contains("us-california") && all.contains("\nnote: "), "{all}");
    let one = says(&["grids", "Germany"]);
    assert!(one.contains("329.65") && one.contains("eurostat-2025h1-business"), "{one}");
    let output = breakeven().args(["grids", "DE", "--format", "json"]).output().unwrap();
    let list: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(list["grids"][0]["carbon_g_per_kwh"]["source"], "owid-ember-2026");
    assert!(says(&["grids", "Atlantis"]).starts_with("exit 2\n"));
}

#[test]
fn what_nobody_sells_is_an_error_with_a_hint() {
    for (arguments, what) in [
        (["prices", "foo", "--spot"], "no GPU of the catalogue is called `foo`\n hint: "),
        (["prices", "--provider", "acme"], "no price is known of a provider called `acme`\n hint: known are "),
        (["prices", "--region", "atlantis"], "no price is known of a region called `atlantis`\n hint: known are "),
    ] {
        let text = says(&arguments);
        assert!(text.starts_with("exit 2\n--- stderr\nerror: ") && text.contains(what), "{text}");
    }
}
