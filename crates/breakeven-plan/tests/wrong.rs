//! Plans that cannot be: each error says what was given, what is allowed, and the next step.

use breakeven::hardware::Catalogue;
use breakeven_plan::{Plan, draw_up, read, report};

const WORK: &str = "[[workload]]\nname = \"x\"\ntimes = { l4 = \"1h\" }\nruns_per_month = 10\n";

fn refused(text: &str) -> breakeven::Error {
    let error = read(text).and_then(|text| Plan::of(&text, Catalogue::embedded())).unwrap_err();
    assert!(error.hint.is_some(), "{error}");
    error
}

#[test]
fn what_cannot_be_is_refused_with_its_reason() {
    for (text, code, told) in [
        ("", "empty-plan", "no workload"),
        ("months = 36\n", "empty-plan", "no workload"),
        ("[[workload]]\nruns_per_month = 1\n", "bad-plan", "exactly one of"),
        ("[[workload]]\ntimes = { l4 = 3 }\n", "bad-plan", "`runs_per_month` is missing"),
        ("[[workload]]\ntimes = { l4 = 0 }\nruns_per_month = 1\n", "bad-plan", "times is 0"),
        ("[[workload]]\ntimes = { l5 = 3 }\nruns_per_month = 1\n", "unknown-gpu", "l5"),
        ("[[workload]]\ntimes = { a100 = 3 }\nruns_per_month = 1\n", "bad-plan", "several GPUs"),
    ] {
        let error = refused(text);
        assert_eq!(error.code, code, "{text}: {error}");
        assert!(error.message.contains(told), "{text}: {error}");
    }
    for (more, code, told) in [
        ("growth = \"900%\"\n", "bad-plan", "-0.5 to 0.5"),
        ("growth = 0.4\n", "bad-plan", "times as many within 36 months"),
        ("growth = \"much\"\n", "bad-plan", "no share"),
        ("deadline = \"0\"\n", "bad-plan", "deadline is 0"),
        ("deadline = \"8 parsecs\"\n", "bad-unit", "deadline"),
        ("deadline = 1\nlatency = 1\n", "bad-plan", "a `deadline` and a `latency`"),
        ("[rent.on-demand]\nl4 = 0\n", "bad-plan", "is 0"),
        ("[buy.gpu]\nl4 = 0\n", "bad-plan", "buy.gpu is 0"),
        ("[site]\nelectricity = 0\n", "bad-plan", "site.electricity is 0"),
        ("[site]\nregion = \"Atlantis\"\n", "unknown-region", "Atlantis"),
        ("[allow]\nways = [\"barter\"]\n", "unknown-way", "barter"),
        ("[allow]\nproviders = [\"Nobody\"]\n", "unknown-provider", "Nobody"),
        ("[allow]\nways = [\"cluster\"]\n", "bad-plan", "the cluster has no price"),
        (
            "[deny]\nways = [\"cpu\", \"on-demand\", \"spot\", \"reserved\", \"workstation\", \"server\"]\n",
            "bad-plan",
            "no way",
        ),
        ("[cloud]\nutilisation = 1.0\n", "bad-plan", "0.05 to 0.98"),
    ] {
        let error = refused(&format!("{WORK}{more}"));
        assert_eq!(error.code, code, "{more}: {error}");
        assert!(error.message.contains(told), "{more}: {error}");
    }
    for (head, code, told) in [
        ("currency = \"EUR\"\n", "unknown-currency", "no rate of EUR"),
        ("currency = \"doubloons\"\n", "unknown-currency", "no code of a currency"),
        ("currency = \"EUR\"\nper_usd = 0\n", "bad-plan", "per_usd"),
        ("per_usd = 2\n", "bad-plan", "a dollar is 1 USD"),
        ("months = 0\n", "bad-plan", "1 to 240"),
    ] {
        let error = refused(&format!("{head}{WORK}"));
        assert_eq!(error.code, code, "{head}: {error}");
        assert!(error.message.contains(told), "{head}: {error}");
    }
}

#[test]
fn what_cannot_be_met_is_said_with_what_would() {
    let text = "[[workload]]\nname = \"slow\"\ntimes = { l4 = \"10h\", h100-sxm5-80gb = \"2h\" }\nruns_per_month = 10\n\
                deadline = \"4h\"\n[[workload]]\nname = \"fine\"\ntimes = { l4 = \"1h\" }\nruns_per_month = 10\n\
                [allow]\ngpus = [\"l4\"]\nways = [\"on-demand\"]\n";
    let plan = Plan::of(&read(text).unwrap(), Catalogue::embedded()).unwrap();
    let answer = draw_up(&plan, Catalogue::embedded(), &[], "2026-11-30").unwrap();
    let unmet = &answer.unmet[0];
    assert_eq!((unmet.workload.as_str(), unmet.late_s), ("slow", Some(6.0 * 3600.0)));
    assert!(unmet.would[0].starts_with("a deadline of 10"), "{:?}", unmet.would);
    assert!(
        unmet.would.iter().any(|would| would.contains("H100 SXM5 80GB (the plan does not allow it")),
        "{:?}",
        unmet.would
    );
    // The rest is planned for all the same.
    assert!(answer.summary.sentence.contains("slow cannot be met") && answer.mix.is_some());
    let page = report::html(&answer);
    assert!(page.ends_with("</html>\n") && !page.contains("http"), "nothing is loaded from elsewhere");
}

#[test]
fn hostile_names_stay_text() {
    let text = WORK.replace("\"x\"", "\"<script>|*x*\"");
    let plan = Plan::of(&read(&text).unwrap(), Catalogue::embedded()).unwrap();
    let answer = draw_up(&plan, Catalogue::embedded(), &[], "2026-11-30").unwrap();
    assert!(!report::html(&answer).contains("<script>|"));
    assert!(!report::markdown(&answer, false).contains("<script>"));
}
