//! The examples of `README.md`, `docs/cli.md`, `docs/fleet.md`, `docs/formula.md` and `docs/import.md`, run.
//! `TRYCMD=overwrite cargo test -p breakeven-cli --test docs` writes them anew.

#[test]
fn every_example_says_what_the_page_says() {
    std::env::set_current_dir("../..").expect("the workspace is two folders up");
    let cases = trycmd::TestCases::new();
    cases.env("NO_COLOR", "1").env("COLUMNS", "80").env("BREAKEVEN_CPU", "").env("BREAKEVEN_CONFIG", "");
    cases.case("README.md").case("docs/cli.md").case("docs/fleet.md").case("docs/formula.md").case("docs/import.md");
}
