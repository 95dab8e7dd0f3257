//! What people type, and the law that what is printed can be typed.

use super::*;
use proptest::prelude::*;

#[test]
fn people_write_amounts_of_computation_in_many_ways() {
    for text in [
        "10,000 GFLOPS",
        "10 TFLOP",
        "10TFLOPs",
        "10 000 GFLOP",
        "10\u{2009}000 gflop",
        "10.000,0 GFLOP",
        "1e13",
        "1.0E13 FLOP",
        "10'000 GFLOP",
        "10_000 GFLOP",
        "+10T",
        "10 teraflop",
    ] {
        assert_eq!(parse_flop(text), Ok(Flop(1e13)), "{text}");
    }
}

#[test]
fn a_comma_is_read_by_what_stands_around_it() {
    for (text, value) in [
        ("0,5", 0.5),
        ("12,5", 12.5),
        ("0,125", 0.125),
        ("1,234", 1234.0),
        ("1,234.5", 1234.5),
        ("1.234,5", 1234.5),
        ("1,000,000", 1e6),
        ("1.000.000", 1e6),
        ("1.234", 1.234),
        ("1234,567", 1234.567),
        (".5", 0.5),
        ("5.", 5.0),
    ] {
        assert_eq!(Measure::Ratio.parse(text), Ok(value), "{text}");
    }
    for text in ["1,23,456", "1,2,3", "1 5", "1,000 000", "1.2.3", "1000,000,000", "1.000,000.5", "."] {
        assert_eq!(Measure::Ratio.parse(text).unwrap_err().code, "bad-number", "{text}");
    }
}

#[test]
fn every_measure_reads_its_units() {
    assert_eq!(parse_flop_per_sec("12.5TFLOP/s"), Ok(FlopPerSec(12.5e12)));
    assert_eq!(parse_flop_per_sec("400 GFLOPS"), Ok(FlopPerSec(4e11)));
    assert_eq!(parse_flop_per_sec("1 TFLOP per second"), Ok(FlopPerSec(1e12)));
    assert_eq!(parse_flop_per_sec("284 TOPS"), Ok(FlopPerSec(284e12)));
    assert_eq!(parse_bytes("80GiB"), Ok(Bytes::gib(80.0)));
    assert_eq!(parse_bytes("1gb"), Ok(Bytes::gb(1.0)));
    assert_eq!(parse_bytes("1.5 G"), Ok(Bytes::gb(1.5)));
    assert_eq!(parse_bytes("1EB"), Ok(Bytes(1e18)));
    assert_eq!(parse_bytes("8 kbit"), Ok(Bytes(1000.0)));
    assert_eq!(parse_bytes_per_sec("16GB/s"), Ok(BytesPerSec(16e9)));
    assert_eq!(parse_bytes_per_sec("100 Gbit/s"), Ok(BytesPerSec(12.5e9)));
    assert_eq!(parse_seconds("500ms"), Ok(Seconds(0.5)));
    assert_eq!(parse_seconds("468.75ms"), Ok(Seconds(0.46875)));
    assert_eq!(parse_seconds("12 µs"), Ok(Seconds(12e-6)));
    assert_eq!(parse_seconds("1.5 hours"), Ok(Seconds(5400.0)));
    assert_eq!(parse_watts("320W"), Ok(Watts(320.0)));
    assert_eq!(parse_watts("1.2 kW"), Ok(Watts(1200.0)));
    assert_eq!(parse_watt_hours("2kWh"), Ok(WattHours(2000.0)));
    assert_eq!(parse_hertz("1.5 GHz"), Ok(Hertz(1.5e9)));
    assert_eq!(parse_fraction("40%"), Ok(0.4));
    assert_eq!(parse_fraction("100%"), Ok(1.0));
    assert_eq!(parse_fraction("0"), Ok(0.0));
    assert_eq!(parse_ratio("2×"), Ok(2.0));
    assert_eq!(parse_usd("5 ct"), Ok(Usd(0.05)));
    assert_eq!(parse_usd_per_hour("$1.20/h"), Ok(UsdPerHour(1.2)));
    assert_eq!(parse_usd_per_hour("$1.20"), Ok(UsdPerHour(1.2)));
    assert_eq!(parse_usd_per_hour("1.20 USD/hour"), Ok(UsdPerHour(1.2)));
    assert_eq!(parse_usd_per_hour("USD 0.02 per min"), Ok(UsdPerHour(1.2)));
    assert_eq!(parse_usd_per_kwh("$0.12/kWh"), Ok(0.12));
    assert_eq!(parse_usd_per_kwh("$120/MWh"), Ok(0.12));
    assert_eq!(parse_grams_per_kwh("400 gCO2/kWh"), Ok(400.0));
    assert_eq!(parse_grams_per_kwh("0.4 t/MWh"), Ok(400.0));
    assert_eq!(parse_count("1e9"), Ok(1e9));
    assert_eq!(parse_count("1.5k"), Ok(1500.0));
}

#[test]
fn messages_say_what_was_given_and_what_is_allowed() {
    let said = |result: Result<f64>| result.unwrap_err().to_string();
    insta::assert_snapshot!(said(Measure::Flop.parse("12abc")), @r"
    error: `12abc` has the unit `abc`; an amount of computation has FLOP, kFLOP, MFLOP, GFLOP, TFLOP, PFLOP, EFLOP
     hint: write it like `10,000 GFLOP`; a bare number is in FLOP
    ");
    insta::assert_snapshot!(said(Measure::Flop.parse("-1")), @r"
    error: `-1` is negative; an amount of computation is 0 or more
     hint: write it like `10,000 GFLOP`; a bare number is in FLOP
    ");
    insta::assert_snapshot!(said(Measure::Bytes.parse("1e400")), @r"
    error: `1e400` is larger than any number can be; an amount of data is 0 or more
     hint: write it like `1.5 GB`; a bare number is in B
    ");
    insta::assert_snapshot!(said(Measure::Bytes.parse("16GB/s")), @r"
    error: `16GB/s` is a data rate; an amount of data is expected: B, kB, MB, GB, TB, PB (powers of 1000), KiB, MiB, GiB, TiB (powers of 1024)
     hint: write it like `1.5 GB`; a bare number is in B
    ");
    insta::assert_snapshot!(said(Measure::BytesPerSec.parse("16Gb/s")), @r"
    error: `16Gb/s`: `Gb/s` may mean bits or bytes
     hint: write `GB` for bytes (powers of 1000), `GiB` (powers of 1024) or `Gbit` for bits
    ");
    insta::assert_snapshot!(said(Measure::Fraction.parse("40")), @r"
    error: `40` is more than 1; a share lies from 0 to 1 (100%)
     hint: for 40 percent write `40%`
    ");
    insta::assert_snapshot!(said(Measure::Seconds.parse("")), @r"
    error: nothing was given where a duration was expected
     hint: write it like `500 ms`; a bare number is in s
    ");
    insta::assert_snapshot!(said(Measure::Seconds.parse("NaN")), @r"
    error: `NaN` is not a number
     hint: write it like `500 ms`; a bare number is in s
    ");
    insta::assert_snapshot!(said(Measure::Count.parse("2.5")), @r"
    error: `2.5` is not a whole number; a count is 0 or more
     hint: write it like `10,000`
    ");
}

#[test]
fn what_is_no_number_is_refused() {
    for text in [
        "", " ", "NaN", "inf", "-inf", "abc", "$", "--5", "1e400", "1e-400", "0x10", "1e", "1e+", "5 5", "\0", "−3",
        "½",
    ] {
        for measure in Measure::ALL {
            assert!(measure.parse(text).is_err(), "{text:?} as {measure:?}: {:?}", measure.parse(text));
        }
    }
    for value in [f64::NAN, f64::INFINITY, -1.0] {
        assert_eq!(Measure::Flop.check(value).unwrap_err().code, "out-of-range");
    }
    assert_eq!(Measure::Flop.read(&Typed::Number(5.0)), Ok(5.0));
}

#[test]
fn printing_chooses_the_unit_for_the_reader() {
    assert_eq!(format_flop(Flop(1e13)), "10 TFLOP");
    assert_eq!(format_flop(Flop(0.0)), "0 FLOP");
    assert_eq!(format_flop(Flop(999_900.0)), "1 MFLOP");
    assert_eq!(format_flop_per_sec(FlopPerSec(12.5e12)), "12.5 TFLOP/s");
    assert_eq!(format_bytes(Bytes(1.0)), "1 B");
    assert_eq!(format_bytes_binary(Bytes(4e9)), "3.73 GiB");
    assert_eq!(format_bytes_per_sec(BytesPerSec(32e9)), "32 GB/s");
    assert_eq!(format_seconds(Seconds(12e-6)), "12 µs");
    assert_eq!(format_seconds(Seconds(1.3)), "1.3 s");
    assert_eq!(format_seconds(Seconds(250.0)), "250 s");
    assert_eq!(format_seconds(Seconds(2500.0)), "41.7 min");
    assert_eq!(format_seconds(Seconds(36_000.0)), "10 h");
    assert_eq!(format_seconds(Seconds(0.0)), "0 s");
    assert_eq!(format_watts(Watts(320.0)), "320 W");
    assert_eq!(format_watt_hours(WattHours(0.12)), "0.12 Wh");
    assert_eq!(format_hertz(Hertz(1.41e9)), "1.41 GHz");
    assert_eq!(format_fraction(0.58), "58 %");
    assert_eq!(format_ratio(19.23), "19×");
    assert_eq!(format_ratio(0.492), "0.49×");
    assert_eq!(format_ratio(310.4), "310×");
    assert_eq!(format_usd(Usd(0.0004)), "$0.0004");
    assert_eq!(format_usd(Usd(1.2)), "$1.20");
    assert_eq!(format_usd(Usd(12_345.6)), "$12 346");
    assert_eq!(format_usd_per_hour(UsdPerHour(1.2)), "$1.20/h");
    assert_eq!(format_usd_per_kwh(0.12), "$0.12/kWh");
    assert_eq!(format_grams_co2(GramsCo2(0.0)), "0 g");
    assert_eq!(format_grams_per_kwh(400.0), "400 g/kWh");
    assert_eq!(format_count(40_000.0), "40 000");
    assert_eq!(format_count(75.0), "75");
}

/// Sizes from nothing to what no machine has.
fn size() -> impl Strategy<Value = f64> {
    (-9.0..24.0f64).prop_map(libm::exp10)
}

fn close(printed: &str, read: Result<f64>, x: f64, tolerance: f64) -> std::result::Result<(), TestCaseError> {
    let read = read.map_err(|e| TestCaseError::fail(format!("{printed}: {e}")))?;
    prop_assert!((read - x).abs() <= tolerance * x, "{} printed as {}, read as {}", x, printed, read);
    Ok(())
}

proptest! {
    #[test]
    fn what_is_printed_can_be_typed(x in size()) {
        type Printer = fn(f64) -> String;
        let laws: [(Measure, Printer, f64); 15] = [
            (Measure::Flop, |x| format_flop(Flop(x)), 0.005),
            (Measure::FlopPerSec, |x| format_flop_per_sec(FlopPerSec(x)), 0.005),
            (Measure::Bytes, |x| format_bytes(Bytes(x)), 0.005),
            (Measure::Bytes, |x| format_bytes_binary(Bytes(x)), 0.005),
            (Measure::BytesPerSec, |x| format_bytes_per_sec(BytesPerSec(x)), 0.005),
            (Measure::Seconds, |x| format_seconds(Seconds(x)), 0.005),
            (Measure::Watts, |x| format_watts(Watts(x)), 0.005),
            (Measure::WattHours, |x| format_watt_hours(WattHours(x)), 0.005),
            (Measure::Hertz, |x| format_hertz(Hertz(x)), 0.005),
            (Measure::Usd, |x| format_usd(Usd(x)), 0.05),
            (Measure::UsdPerHour, |x| format_usd_per_hour(UsdPerHour(x)), 0.05),
            (Measure::UsdPerKwh, format_usd_per_kwh, 0.05),
            (Measure::GramsCo2, |x| format_grams_co2(GramsCo2(x)), 0.005),
            (Measure::GramsPerKwh, format_grams_per_kwh, 0.005),
            (Measure::Ratio, format_ratio, 0.05),
        ];
        for (measure, print, tolerance) in laws {
            let printed = print(x);
            close(&printed, measure.parse(&printed), x, tolerance)?;
        }
    }

    #[test]
    fn a_count_printed_can_be_typed(n in 0..1_000_000_000_000_u64) {
        prop_assert_eq!(parse_count(&format_count(n as f64)), Ok(n as f64));
    }

    #[test]
    fn a_share_printed_can_be_typed(x in 0.001..1.0f64) {
        let printed = format_fraction(x);
        close(&printed, parse_fraction(&printed), x, 0.005)?;
    }

    #[test]
    fn no_text_makes_it_panic(text in ".{0,40}") {
        for measure in Measure::ALL {
            if let Ok(value) = measure.parse(&text) {
                prop_assert!(value.is_finite() && value >= 0.0);
            }
        }
    }
}

#[test]
fn a_duration_may_have_parts() {
    for (text, seconds) in [
        ("1h30m", 5400.0),
        ("1h30min", 5400.0),
        ("1h 30m", 5400.0),
        ("1 H 30 M", 5400.0),
        ("2d4h", 187_200.0),
        ("1m30s", 90.0),
        ("1m0.5s", 60.5),
        ("90m", 5400.0),
        ("1 hour 30 minutes", 5400.0),
    ] {
        assert_eq!(parse_seconds(text), Ok(Seconds(seconds)), "{text}");
    }
    for text in ["30m1h", "1h1h", "1h30", "1h-30m", "h", "1h m", "1x2h", "1mo"] {
        assert!(parse_seconds(text).is_err(), "{text}");
    }
    // `m` is none of the units of anything else.
    assert!(parse_watts("1h30m").is_err() && parse_usd_per_hour("$1/m").is_err());
}

#[test]
fn a_share_above_all_is_told_in_its_own_unit() {
    for (text, message, hint) in [
        ("120%", "`120%` is more than 100%; a share lies from 0 to 1 (100%)", "write it like `40%`"),
        ("40", "`40` is more than 1; a share lies from 0 to 1 (100%)", "for 40 percent write `40%`"),
        ("400", "`400` is more than 1; a share lies from 0 to 1 (100%)", "write it like `40%`"),
    ] {
        let error = parse_fraction(text).unwrap_err();
        assert_eq!((error.message.as_str(), error.hint.as_deref()), (message, Some(hint)));
    }
}
