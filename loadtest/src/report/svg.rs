//! A report → a picture: the latency curve of a run, or bars of two stores.

use std::fmt::Write as _;

use super::{Comparison, Report};

const WIDTH: f64 = 760.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 730.0;
const TOP: f64 = 50.0;
const BOTTOM: f64 = 330.0;
const BLUE: &str = "#2563eb";
const GREY: &str = "#9ca3af";

/// A picture being drawn.
struct Picture(String);

impl Picture {
    fn new(height: f64, title: &str) -> Self {
        let mut picture = Self(format!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{height}\" \
             font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
        ));
        picture.text((LEFT, 28.0), "start", title);
        picture
    }

    fn text(&mut self, (x, y): (f64, f64), anchor: &str, text: &str) {
        let text = text.replace('&', "&amp;").replace('<', "&lt;");
        // Writing to a string cannot fail.
        writeln!(
            self.0,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>"
        )
        .ok();
    }

    fn line(&mut self, from: (f64, f64), to: (f64, f64), color: &str) {
        writeln!(
            self.0,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{color}\"/>",
            from.0, from.1, to.0, to.1
        )
        .ok();
    }

    fn bar(&mut self, (x, y): (f64, f64), width: f64, color: &str) {
        writeln!(
            self.0,
            "<rect x=\"{x:.1}\" y=\"{y:.1}\" width=\"{width:.1}\" height=\"14\" fill=\"{color}\"/>"
        )
        .ok();
    }

    fn end(mut self) -> String {
        self.0.push_str("</svg>\n");
        self.0
    }
}

/// The latency of a run by percentile, both axes logarithmic.
pub(super) fn run(report: &Report) -> String {
    let title = format!(
        "{}, {}: {:.0} samples/s, latency by percentile",
        report.plan.provider.word(),
        report.pace,
        report.samples_per_second()
    );
    let mut picture = Picture::new(370.0, &title);
    let curve = &report.latency.curve;
    let (low, high) = decades(curve.iter().map(|(_, ms)| *ms));
    let y = |ms: f64| {
        let share = (ms.max(low).log10() - low.log10()) / (high.log10() - low.log10());
        BOTTOM - share * (BOTTOM - TOP)
    };
    // Percentiles by how many are slower: 0 %, 90 %, 99 % … are equally far apart.
    let x = |percent: f64| {
        let slower = (1.0 - percent / 100.0).max(1e-5);
        LEFT - slower.log10() / 5.0 * (RIGHT - LEFT)
    };
    let mut decade = low;
    while decade <= high * 1.01 {
        picture.line((LEFT, y(decade)), (RIGHT, y(decade)), "#e5e7eb");
        picture.text(
            (LEFT - 6.0, y(decade) + 4.0),
            "end",
            &format!("{decade} ms"),
        );
        decade *= 10.0;
    }
    for (percent, name) in [
        (0.0, "0 %"),
        (90.0, "90 %"),
        (99.0, "99 %"),
        (99.9, "99.9 %"),
        (99.99, "99.99 %"),
    ] {
        picture.line((x(percent), TOP), (x(percent), BOTTOM), "#e5e7eb");
        picture.text((x(percent), BOTTOM + 18.0), "middle", name);
    }
    for pair in curve.windows(2) {
        if let [from, to] = pair {
            picture.line((x(from.0), y(from.1)), (x(to.0), y(to.1)), BLUE);
        }
    }
    picture.end()
}

/// Powers of ten around positive values.
fn decades(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (least, most) = values
        .filter(|value| *value > 0.0)
        .fold((f64::INFINITY, 0.0_f64), |(least, most), value| {
            (least.min(value), most.max(value))
        });
    if most <= 0.0 {
        return (1.0, 10.0);
    }
    let low = 10_f64.powf(least.log10().floor());
    let high = 10_f64.powf(most.log10().ceil());
    (low, if high > low { high } else { low * 10.0 })
}

/// Two bars for each thing that is compared, the longer one as long as there is room.
pub(super) fn comparison(report: &Comparison) -> String {
    let rows = f64::from(u32::try_from(report.rows.len()).unwrap_or(0));
    let mut picture = Picture::new(
        90.0 + rows * 46.0,
        "Sluice (blue) and VictoriaMetrics (grey), same pushes, same machine, medians",
    );
    let (from, room) = (220.0, 400.0);
    let mut y = TOP;
    for row in &report.rows {
        let most = row
            .sluice
            .median
            .max(row.victoria_metrics.median)
            .max(f64::MIN_POSITIVE);
        let better = if row.more_is_better {
            "more is better"
        } else {
            "less is better"
        };
        picture.text((from - 10.0, y + 12.0), "end", &row.what);
        picture.text(
            (from - 10.0, y + 28.0),
            "end",
            &format!("ratio {:.2}, {better}", row.ratio),
        );
        for (value, color, below) in [
            (row.sluice.median, BLUE, 0.0),
            (row.victoria_metrics.median, GREY, 16.0),
        ] {
            let width = value / most * room;
            picture.bar((from, y + below), width, color);
            picture.text(
                (from + width + 6.0, y + below + 12.0),
                "start",
                &number(value),
            );
        }
        y += 46.0;
    }
    picture.end()
}

fn number(value: f64) -> String {
    if value >= 1000.0 {
        format!("{value:.0}")
    } else {
        format!("{value:.2}")
    }
}
