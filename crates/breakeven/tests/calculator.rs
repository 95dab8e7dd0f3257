//! The calculator from request to answer: the published figures, and inputs that hurt.

use breakeven::answer::{answer, answer_request};
use breakeven::estimate::Estimate;
use breakeven::request::{Numbers, Options, Request};
use proptest::prelude::*;

fn example() -> Request {
    let t = |s: &str| Some(s.into());
    Request {
        today: "2026-11-21".into(),
        numbers: Some(Numbers {
            flops: t("10,000 GFLOPS"),
            data: t("1GB"),
            cpu_rate: t("400GFLOP/s"),
            peak: t("12.5TFLOP/s"),
            utilization: t("100%"),
            python_overhead: t("0"),
            link: t("32GB/s"),
            data_out: t("0"),
            init: t("468.75ms"),
            ..Numbers::default()
        }),
        options: Options { gpu: vec!["RTX 3080".into()], ..Options::default() },
        ..Request::default()
    }
}

fn with(change: impl FnOnce(&mut Numbers)) -> breakeven::Result<Estimate> {
    let mut request = example();
    change(request.numbers.as_mut().unwrap());
    answer_request(&request)
}

#[test]
fn a_cpu_reads_and_writes_no_faster_than_its_memory() {
    // One addition on each of 10⁹ numbers: 8 GB, at 205 GB/s of eight channels or 24 GB/s of one core.
    let numbers = Numbers { flops: Some("1e9".into()), bytes: Some("8e9".into()), ..Numbers::default() };
    let options = Options { gpu: vec!["l4".to_owned()], cpu: Some("EPYC 7763".to_owned()), ..Options::default() };
    let e = answer_request(&Request { numbers: Some(numbers), options, ..Request::default() }).unwrap();
    let time = e.baseline.time_s.unwrap();
    assert!((0.03..0.08).contains(&time.p10) && (0.3..0.4).contains(&time.p90), "{time:?}");
}

#[test]
fn start_up_is_left_out_of_numbers_too() {
    let warm = |exclude_startup| {
        let mut request = example();
        request.options.exclude_startup = exclude_startup;
        answer_request(&request).unwrap().estimates[0].time_s.unwrap().p50
    };
    assert!((warm(false) - warm(true) - 0.46875).abs() < 1e-9);
}

#[test]
fn the_worked_example() {
    let e = with(|_| ()).unwrap();
    let f = e.formula.as_ref().unwrap();
    assert_eq!((f.time_s.p10, f.time_s.p50, f.time_s.p90), (1.3, 1.3, 1.3));
    assert!((f.speedup.unwrap().p50 - 19.230_769).abs() < 1e-6);
    assert_eq!(e.baseline.time_s.unwrap().p50, 25.0);
    assert_eq!(e.estimates[0].speedup, f.speedup);
    assert!(e.summary.sentence.starts_with("19× faster on GeForce RTX 3080"), "{}", e.summary.sentence);
    assert!(e.summary.sentence.contains("1.3 s against 25 s on the CPU"), "{}", e.summary.sentence);
    assert!(e.summary.sentence.contains("0.12 Wh"), "{}", e.summary.sentence);
}

#[test]
fn published_table_through_the_whole_engine() {
    for (gflop, cpu, gpu, speedup) in [
        (100.0, 0.25, 0.508, 0.49),
        (206.6, 0.517, 0.517, 1.00),
        (1e3, 2.5, 0.58, 4.31),
        (1e4, 25.0, 1.3, 19.23),
        (1e5, 250.0, 8.5, 29.41),
    ] {
        let e = with(|n| n.flops = Some(format!("{gflop} GFLOP").as_str().into())).unwrap();
        let row = &e.estimates[0];
        assert!((e.baseline.time_s.unwrap().p50 - cpu).abs() < 6e-4);
        assert!((row.time_s.unwrap().p50 - gpu).abs() < 6e-4);
        assert!((row.speedup.unwrap().p50 - speedup).abs() < 5.1e-3);
        assert_eq!(row.break_even.as_ref().unwrap().describes, "206.6 GFLOP");
    }
    let slow = with(|n| n.flops = Some("100 GFLOP".into())).unwrap();
    assert!(slow.summary.sentence.starts_with("CPU is faster"), "{}", slow.summary.sentence);
}

#[test]
fn half_used_and_a_fifth_lost_is_exactly_two_fifths_of_the_peak() {
    let e = with(|n| {
        n.utilization = Some("50%".into());
        n.python_overhead = Some("20%".into());
        n.data = Some("0".into());
        n.init = Some("0".into());
    })
    .unwrap();
    assert_eq!(e.estimates[0].effective_flop_per_s, Some(0.4 * 12.5e12));
}

#[test]
fn a_gigabyte_over_the_link() {
    for (link, ms) in [("8GB/s", 125.0), ("32GB/s", 31.25)] {
        let e = with(|n| n.link = Some(link.into())).unwrap();
        assert_eq!(e.estimates[0].breakdown_s.unwrap().transfer * 1e3, ms);
    }
}

#[test]
fn amdahl_bounds_the_speedup() {
    for (fraction, bound) in [("80%", 5.0), ("20%", 1.25)] {
        let e = with(|n| n.parallel_fraction = Some(fraction.into())).unwrap();
        assert!(e.estimates[0].speedup.unwrap().p90 <= bound);
    }
}

#[test]
fn what_was_given_is_compared_with_the_model() {
    let e = with(|_| ()).unwrap();
    let why = e.formula.unwrap().differs_because.unwrap();
    assert!(why.contains("you assumed"), "{why}");
}

#[test]
fn the_curve_crosses_where_the_published_table_does() {
    let e = with(|n| {
        n.flops = Some("10,000 GFLOP".into());
        n.init = Some("468.75ms".into());
    })
    .unwrap();
    let curve = e.formula.unwrap().curve;
    let crossing = curve.windows(2).find(|w| w[1].gpu_s.p50 <= w[1].cpu_s.p50 * (1.0 + 1e-9)).unwrap();
    assert!((crossing[1].flop.unwrap() / 206.6e9 - 1.0).abs() < 1e-3, "{crossing:?}");
    let now = curve.iter().find(|p| p.scale == 1.0).unwrap();
    assert_eq!((now.cpu_s.p50, now.gpu_s.p50), (25.0, 1.3));
}

#[test]
fn the_roofline_of_a_stream_and_of_a_product() {
    let roofline = |matmul: bool| {
        let e = with(|n| {
            (n.flops, n.peak, n.utilization) = (None, None, None);
            if matmul {
                n.matmul = Some("8192".into());
            } else {
                (n.elements, n.operations) = (Some("1e8".into()), Some("1".into()));
            }
        });
        let e = e.unwrap();
        (e.formula.unwrap().roofline.unwrap(), e.estimates[0].breakdown_s.unwrap())
    };
    let (stream, parts) = roofline(false);
    // One operation for 8 bytes, read and written; the RTX 3080 has 760 GB/s.
    assert_eq!(stream.intensity_flop_per_byte, Some(0.125));
    assert!((stream.bandwidth_byte_per_s / (0.85 * 760e9) - 1.0).abs() < 1e-3);
    assert_eq!(stream.attained_flop_per_s.p50, 0.125 * stream.bandwidth_byte_per_s);
    assert!((parts.memory * stream.attained_flop_per_s.p50 / 1e8 - 1.0).abs() < 1e-12);
    let (product, _) = roofline(true);
    // 2n³ ÷ 12n² B.
    assert!((product.intensity_flop_per_byte.unwrap() / (8192.0 / 6.0) - 1.0).abs() < 1e-9);
    let fp32 = product.roofs.iter().find(|r| r.used).unwrap();
    assert_eq!((fp32.precision.as_str(), fp32.peak_flop_per_s), ("fp32", 29.8e12));
    assert!(product.attained_flop_per_s.p90 < fp32.peak_flop_per_s);
    assert_eq!(fp32.points[1].flop_per_byte, fp32.ridge_flop_per_byte);
    assert!(product.roofs.len() == 7 && product.roofs.iter().all(|r| r.points.len() == 3));
    // Without traffic there is no place under the roofs; without arithmetic there are none.
    let flops = with(|_| ()).unwrap().formula.unwrap().roofline.unwrap();
    assert_eq!((flops.intensity_flop_per_byte, flops.attained_flop_per_s.p50), (None, 12.5e12));
}

#[test]
fn a_size_says_what_has_to_fit() {
    let e = with(|n| (n.flops, n.matmul) = (None, Some("100,000".into()))).unwrap();
    let row = &e.estimates[0];
    assert_eq!((row.peak_bytes, row.memory_bytes, row.fits), (Some(1.2e11), Some((10_u64 << 30) as f64), Some(false)));
}

#[test]
fn every_gpu_when_none_is_named() {
    let mut request = example();
    request.options.gpu.clear();
    let numbers = request.numbers.as_mut().unwrap();
    (numbers.peak, numbers.utilization, numbers.link) = (None, None, None);
    let e = answer_request(&request).unwrap();
    assert!(e.estimates.len() >= 75, "{}", e.estimates.len());
    for row in &e.estimates {
        let t = row.time_s.unwrap();
        assert!(t.p10 <= t.p50 && t.p50 <= t.p90, "{row:?}");
        assert!((row.breakdown_s.unwrap().total() / t.p50 - 1.0).abs() < 1e-12);
    }
}

#[test]
fn a_gpu_of_no_catalogue_costs_and_draws_what_is_given() {
    let mut request = example();
    request.options = Options {
        price: Some("0,36 USD/h".into()),
        gpu_watts: Some("100 W".into()),
        electricity: None,
        ..Options::default()
    };
    let e = answer_request(&request).unwrap();
    let [g] = &e.estimates[..] else { panic!("one GPU") };
    let (time, cost) = (g.time_s.unwrap().p50, g.cost_usd.unwrap().p50);
    assert!((cost / (time * 0.36 / 3600.0) - 1.0).abs() < 1e-12, "{cost}");
    assert_eq!(g.price.as_ref().unwrap().provider, "given");
    assert!(g.energy_wh.is_some());
}

#[test]
fn nothing_to_do_is_slower_by_no_figure() {
    let e = with(|n| n.flops = Some("0".into())).unwrap();
    assert!(
        e.summary.sentence.starts_with("CPU is faster: 0 s") && !e.summary.sentence.contains('?'),
        "{}",
        e.summary.sentence
    );
}

#[test]
fn only_gpus_that_the_provider_rents_are_shown() {
    let asked = |gpu: &[&str], price: Option<&str>, region: Option<&str>| {
        let numbers = Numbers { flops: Some("1e15".into()), ..Numbers::default() };
        let options = Options {
            provider: Some("aws".into()),
            gpu: gpu.iter().map(ToString::to_string).collect(),
            price: price.map(Into::into),
            region: region.map(Into::into),
            ..Options::default()
        };
        answer_request(&Request { numbers: Some(numbers), options, ..Request::default() })
    };
    let told = |e: &Estimate| e.notes.iter().any(|note| note.code == "not-rented" && note.text.contains("AWS"));
    let rented = asked(&[], None, None).unwrap();
    assert!(rented.estimates.len() > 5 && rented.estimates.iter().all(|g| g.price.is_some()) && told(&rented));
    // Who names a GPU, or its price, wants it all the same.
    for (gpu, price) in [(&["RTX 3080"][..], None), (&[], Some("1"))] {
        let all = asked(gpu, price, None).unwrap();
        assert!(all.estimates.iter().any(|g| g.name.contains("RTX 3080")) && !told(&all));
    }
    let error = asked(&[], None, Some("eastus")).unwrap_err();
    assert_eq!((error.message.as_str(), error.field), ("AWS rents none of the GPUs as asked for", Some("provider")));
}

#[test]
fn a_provider_that_nobody_knows_is_refused() {
    let mut request = example();
    request.options.provider = Some("the shop round the corner".into());
    let error = answer_request(&request).unwrap_err();
    assert_eq!((error.code, error.field), ("unknown-provider", Some("provider")));
    assert!(error.hint.unwrap().contains("AWS"));
}

#[test]
fn a_month_of_runs_has_a_bill() {
    let mut request = example();
    request.options.runs_per_month = Some("10,000".into());
    request.options.price = Some("$3.60/h".into());
    let notes = answer_request(&request).unwrap().notes;
    let bill = notes.iter().find(|n| n.code == "monthly-bill").unwrap();
    assert!(bill.text.starts_with("10 000 runs a month cost $13.00 on GeForce RTX 3080"), "{}", bill.text);
}

#[test]
fn nothing_wrong_is_taken_silently() {
    for (flops, code) in [
        ("12abc", "bad-unit"),
        ("-1", "out-of-range"),
        ("1e400", "out-of-range"),
        ("", "bad-number"),
        ("NaN", "bad-number"),
        ("10 GB", "bad-unit"),
        ("inf", "bad-number"),
    ] {
        let e = with(|n| n.flops = Some(flops.into())).unwrap_err();
        assert_eq!((e.code, e.field), (code, Some("flops")), "{flops}: {e}");
        assert!(e.hint.is_some(), "{flops}");
    }
    assert_eq!(with(|n| n.flops = None).unwrap_err().code, "no-work");
    assert_eq!(with(|n| n.utilization = Some("0".into())).unwrap_err().field, Some("utilization"));
    assert_eq!(with(|n| n.pcie = Some("4.0".into())).unwrap_err().code, "contradiction");
    assert_eq!(with(|n| n.kind = Some("magic".into())).unwrap_err().code, "unknown-kind");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_numbers_give_an_ordered_finite_answer_or_an_error(flop in 0.0..1e30f64, data in 0.0..1e15f64, rate in 1.0..1e18f64, n in 1u32..100) {
        let mut request = example();
        let numbers = request.numbers.as_mut().unwrap();
        numbers.flops = Some(breakeven::request::Typed::Number(flop));
        numbers.data = Some(breakeven::request::Typed::Number(data));
        numbers.cpu_rate = Some(breakeven::request::Typed::Number(rate));
        numbers.gpus = Some(breakeven::request::Typed::Number(f64::from(n)));
        numbers.utilization = None;
        numbers.peak = None;
        if let Ok(e) = answer_request(&request) {
            for row in &e.estimates {
                for i in [row.time_s, row.speedup, row.energy_wh].into_iter().flatten() {
                    prop_assert!(i.p10.is_finite() && i.p10 <= i.p50 && i.p50 <= i.p90 && i.p90.is_finite(), "{i:?}");
                }
            }
        }
    }

    #[test]
    fn any_text_is_answered(text in ".{0,200}") {
        let reply: serde_json::Value = serde_json::from_str(&answer(&text)).unwrap();
        prop_assert!(reply.get("error").is_some() || reply.get("schema").is_some());
    }
}
