//! Numbers as people read them.

use std::time::Duration;

/// A count with its thousands apart.
#[must_use]
pub fn count(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    let groups: Vec<&str> = groups
        .filter_map(|group| std::str::from_utf8(group).ok())
        .collect();
    groups.join(",")
}

/// A share in per cent. Only all is 100 %, and only nothing is 0 %.
#[must_use]
pub fn percent(share: Option<f64>) -> String {
    match share {
        None => "-".to_owned(),
        Some(share) if share > 0.0 && share < 0.0001 => "< 0.01 %".to_owned(),
        Some(share) if share < 1.0 && share > 0.9999 => "> 99.99 %".to_owned(),
        Some(share) => format!("{:.2} %", 100.0 * share),
    }
}

/// A time in seconds, with a tenth if that is needed.
#[must_use]
pub fn seconds(time: Duration) -> String {
    let tenths = (10.0 * time.as_secs_f64()).round();
    format!("{}", tenths / 10.0)
}

/// A latency in the unit that suits it.
#[must_use]
pub fn latency(millis: Option<f64>) -> String {
    match millis {
        None => "-".to_owned(),
        Some(millis) if millis < 10.0 => format!("{millis:.1} ms"),
        Some(millis) if millis < 1000.0 => format!("{millis:.0} ms"),
        Some(millis) => format!("{:.2} s", millis / 1000.0),
    }
}

/// What share of the whole each number is, in per cent.
#[expect(clippy::cast_precision_loss, reason = "for display")]
#[must_use]
pub fn shares<const N: usize>(numbers: &[u64; N]) -> [f64; N] {
    let all = numbers.iter().sum::<u64>().max(1) as f64;
    numbers.map(|number| 100.0 * number as f64 / all)
}
