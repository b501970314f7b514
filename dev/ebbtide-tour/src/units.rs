//! Formats figures for readers.

/// `12.3 ms`, `456 µs`.
pub(crate) fn seconds(seconds: f64) -> String {
    match seconds {
        1.0.. => format!("{} s", three_digits(seconds)),
        1e-3.. => format!("{} ms", three_digits(seconds * 1e3)),
        _ => format!("{} µs", three_digits(seconds * 1e6)),
    }
}

/// `12.3 MiB`, `456 KiB`.
pub(crate) fn bytes(bytes: f64) -> String {
    const KIB: f64 = 1024.0;
    if bytes >= KIB * KIB {
        format!("{} MiB", three_digits(bytes / (KIB * KIB)))
    } else if bytes >= KIB {
        format!("{} KiB", three_digits(bytes / KIB))
    } else {
        format!("{bytes:.0} B")
    }
}

/// `1,234,567`.
pub(crate) fn count(count: f64) -> String {
    let digits = format!("{count:.0}");
    let mut grouped = String::with_capacity(digits.len() + digits.len() / 3);
    for (place, digit) in (0..digits.len()).rev().zip(digits.chars()) {
        grouped.push(digit);
        if place > 0 && place % 3 == 0 {
            grouped.push(',');
        }
    }
    grouped
}

/// `0.56×`; a dash for a ratio to 0.
pub(crate) fn ratio(ratio: f64) -> String {
    match ratio {
        _ if !ratio.is_finite() => "–".to_owned(),
        0.0 => "0×".to_owned(),
        10.0.. => format!("{}×", count(ratio)),
        0.01.. => format!("{ratio:.2}×"),
        _ => "<0.01×".to_owned(),
    }
}

fn three_digits(figure: f64) -> String {
    match figure {
        99.95.. => format!("{figure:.0}"),
        9.995.. => format!("{figure:.1}"),
        _ => format!("{figure:.2}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_are_short_and_have_units() {
        assert_eq!([2.0, 0.0123, 0.000_456].map(seconds), ["2.00 s", "12.3 ms", "456 µs"]);
        assert_eq!(
            [512.0, 1536.0, 100.0 * 1024.0 * 1024.0].map(bytes),
            ["512 B", "1.50 KiB", "100 MiB"]
        );
        assert_eq!(
            [0.0, 999.0, 1000.0, 1_234_567.0].map(count),
            ["0", "999", "1,000", "1,234,567"]
        );
    }

    #[test]
    fn ratios_have_two_digits_behind_the_point() {
        let ratios = [1.0 / 2.0, 3.0 / 3702.0, 30.0 / 2.0, 5.0 / 0.0, 0.0 / 5.0, f64::NAN];
        assert_eq!(ratios.map(ratio), ["0.50×", "<0.01×", "15×", "–", "0×", "–"]);
    }
}
