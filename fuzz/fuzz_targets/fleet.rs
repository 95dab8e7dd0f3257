//! Any bytes as a job log: the first line as its header, the rest as its rows.
#![no_main]

use breakeven::hardware::Catalogue;
use breakeven_fleet::field::Layout;
use breakeven_fleet::models::Models;
use breakeven_fleet::names::Names;
use breakeven_fleet::part::{Context, part};
use breakeven_fleet::rows::accounted;
use breakeven_fleet::table::{Block, Table};
use breakeven_fleet::{Fleet, Given, Mapping, Recordings, report};
use libfuzzer_sys::fuzz_target;

const HEADER: &str = "JobID|JobName|State|Submit|Start|End|Elapsed|AllocTRES|AllocGRES|TRESUsageInMax|TRESUsageInAve|\
                      TotalCPU";

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let _ = Mapping::read(&text);
    let (first, rest) = text.split_once('\n').unwrap_or((HEADER, &text));
    let own: Vec<&str> = first.split('|').collect();
    let layout = Layout::of(&own);
    let (layout, rest) =
        if layout.is_log() { (layout, rest) } else { (Layout::of(&HEADER.split('|').collect::<Vec<_>>()), &*text) };
    let table = Table { name: String::new(), layout, mapping: Mapping::default(), delimiter: '|' };
    let models = Models::new(Catalogue::embedded(), Given::default()).expect("nothing is given");
    let (recordings, usage) = (Recordings::default(), Default::default());
    let context = Context { names: Names::default(), models, recordings, usage };
    let mut fleet = Fleet::new(context);
    let block = Block::Lines(rest.to_owned());
    let judged = part(&block, &table, &fleet.context);
    let mut take = |_: &breakeven_fleet::part::Row, _: &dyn Fn() -> String| Ok(());
    fleet.fold(judged, &block, &table, &mut take).expect("nothing is written");
    fleet.finish(&mut take).expect("nothing is written");
    assert!(accounted(&fleet));
    let (_, _, _) = (report::text(&fleet, None), report::json(&fleet), report::html(&fleet));
});
