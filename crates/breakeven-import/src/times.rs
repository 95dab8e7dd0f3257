//! Points in time and durations as text, exactly, in ns.

/// A decimal number in ns: `unit` is the power of ten of its unit over 1 ns, 3 for µs. Quotes around it are allowed;
/// NaN, infinities and what is beyond 292 years are `None`.
///
/// ```text
/// 1695835573023613.25 µs is beyond 2⁵³ ns and still exact
/// ```
pub(crate) fn nanoseconds(text: &[u8], unit: i32) -> Option<i64> {
    let text = unquoted(text);
    let (negative, digits) = match text {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        all => (false, all),
    };
    let (mut mantissa, mut power) = (0_i64, unit);
    let (mut point, mut seen, mut full) = (false, false, false);
    let mut rest = digits;
    while let [byte, after @ ..] = rest {
        match byte {
            b'0'..=b'9' => {
                seen = true;
                // Digits that do not fit are far below 1 ns, or the number is too large anyway.
                let longer = mantissa.checked_mul(10).and_then(|m| m.checked_add(i64::from(byte - b'0')));
                match longer.filter(|_| !full) {
                    Some(longer) => {
                        mantissa = longer;
                        power = power.checked_sub(i32::from(point))?;
                    }
                    None => {
                        full = true;
                        power = power.checked_add(i32::from(!point))?;
                    }
                }
            }
            b'.' if !point => point = true,
            b'e' | b'E' => {
                let exponent: i32 = std::str::from_utf8(after).ok()?.parse().ok()?;
                power = power.checked_add(exponent)?;
                break;
            }
            _ => return None,
        }
        rest = after;
    }
    let value = seen.then(|| shifted(mantissa, power)).flatten()?;
    Some(if negative { -value } else { value })
}

/// `mantissa` × 10^`power`, rounded to the nearest.
fn shifted(mantissa: i64, power: i32) -> Option<i64> {
    match power {
        _ if mantissa == 0 => Some(0),
        0.. => mantissa.checked_mul(10_i64.checked_pow(u32::try_from(power).ok()?)?),
        -18..=-1 => {
            let by = 10_i64.pow(power.unsigned_abs());
            Some(mantissa / by + i64::from(mantissa % by >= by - by / 2))
        }
        _ => Some(0),
    }
}

/// Without the quotes of a number written as a string, and the blanks in them.
pub(crate) fn unquoted(text: &[u8]) -> &[u8] {
    match text {
        [b'"', inner @ .., b'"'] => inner.trim_ascii(),
        all => all,
    }
}

/// A whole number, also in quotes.
pub(crate) fn whole(text: &[u8]) -> Option<i64> {
    std::str::from_utf8(unquoted(text)).ok()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::nanoseconds;
    use proptest::prelude::*;

    #[test]
    fn as_tools_write_them() {
        let of = |text: &str| nanoseconds(text.as_bytes(), 3);
        assert_eq!(of("1695835573023613"), Some(1_695_835_573_023_613_000));
        assert_eq!(of("5025648801476.657"), Some(5_025_648_801_476_657));
        assert_eq!(of("\"773902396463\""), Some(773_902_396_463_000));
        assert_eq!(of("1e-06"), Some(0));
        assert_eq!(of("1.5E3"), Some(1_500_000));
        assert_eq!(of("-3"), Some(-3000));
        assert_eq!(of("0.0005"), Some(1));
        for none in ["", "-", "NaN", "Infinity", "1e400", "99999999999999999999", "12x", "1.2.3", "null", "."] {
            assert_eq!(of(none), None, "{none}");
        }
    }

    proptest! {
        #[test]
        fn exact_to_the_nanosecond(ns in 0_i64..9_000_000_000_000_000_000) {
            let text = format!("{}.{:03}", ns / 1000, ns % 1000);
            prop_assert_eq!(nanoseconds(text.as_bytes(), 3), Some(ns));
        }

        #[test]
        fn any_bytes_are_a_number_or_none(bytes: Vec<u8>, unit in -20_i32..20) {
            let _ = nanoseconds(&bytes, unit);
        }
    }
}
