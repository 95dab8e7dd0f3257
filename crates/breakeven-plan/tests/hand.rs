//! The three cases that docs/plan.md works by hand: money equal to the cent, read from that page.

use breakeven::hardware::Catalogue;
use breakeven_plan::{Answer, Bill, Plan, draw_up, read};

const PAGE: &str = include_str!("../../../docs/plan.md");

/// The plan of a case and its figures: the fenced TOML below the heading, and `key: figure` lines of the next fence.
fn case(heading: &str) -> (Answer, Vec<(String, f64)>) {
    let part = PAGE.split(&format!("### {heading}")).nth(1).expect("the page has the case");
    let fence = |language: &str| part.split(&format!("```{language}\n")).nth(1).unwrap().split("```").next().unwrap();
    let text = read(fence("toml")).unwrap();
    let plan = Plan::of(&text, Catalogue::embedded()).unwrap();
    let answer = draw_up(&plan, Catalogue::embedded(), &[], "2026-11-30").unwrap();
    let figures = fence("text").lines().filter_map(|line| {
        let (key, figure) = line.split_once(": ")?;
        Some((key.trim().to_owned(), figure.replace([',', '$'], "").trim().parse().ok()?))
    });
    (answer, figures.collect())
}

fn figure(bill: &Bill, key: &str) -> f64 {
    match key {
        "capital" => bill.capital,
        "rent" => bill.rent,
        "electricity" => bill.electricity,
        "cooling" => bill.cooling,
        "hosting" => bill.hosting,
        "staff" => bill.staff,
        "data" => bill.data,
        "resale" => bill.resale,
        "total" => bill.total(),
        _ => panic!("{key} is no part of a bill"),
    }
}

fn holds(heading: &str, parts: usize) {
    let (answer, figures) = case(heading);
    assert_eq!(figures.len(), parts, "{heading}: {figures:?}");
    let bill = answer.mix.as_ref().unwrap().bill;
    for (key, by_hand) in figures {
        let ours = (figure(&bill, &key) * 100.0).round() / 100.0;
        assert_eq!(ours, by_hand, "{heading}, {key}: {bill:?}");
    }
}

#[test]
fn rent_by_the_hour_is_as_worked_by_hand() {
    holds("Rented by the hour", 3);
}

#[test]
fn a_bought_server_is_as_worked_by_hand() {
    holds("A bought server", 7);
}

#[test]
fn spot_with_interruptions_and_data_is_as_worked_by_hand() {
    holds("Spot, with interruptions and data", 4);
}
