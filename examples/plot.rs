//! One plot over time: axes, shaded phases, lines and bars. Colours are the style sheet's.

use std::ops::Range;

use crate::frame::Frame;
use crate::page::put;

const WIDTH: f64 = 1100.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 12.0;
const TOP: f64 = 26.0;
const BOTTOM: f64 = 38.0;

/// A vertical axis.
#[derive(Clone, Debug)]
pub enum Axis {
    /// 0 to 100 %.
    Percent,
    /// Milliseconds, each step ten times the one before.
    LogMillis {
        /// The lowest value.
        from: f64,
        /// The highest value.
        to: f64,
    },
    /// Lanes, one above the other: lane 0, the lowest, is from 0 to 1.
    Lanes(Vec<String>),
}

impl Axis {
    /// Where a value is, from 0 (bottom) to 1 (top).
    fn place(&self, value: f64) -> f64 {
        match self {
            Self::Percent => value / 100.0,
            Self::LogMillis { from, to } => (value.max(*from) / from).ln() / (to / from).ln(),
            #[expect(clippy::cast_precision_loss, reason = "there are few lanes")]
            Self::Lanes(names) => value / names.len().max(1) as f64,
        }
        .clamp(0.0, 1.0)
    }

    fn ticks(&self) -> Vec<(f64, String)> {
        match self {
            Self::Percent => [0.0, 25.0, 50.0, 75.0, 100.0]
                .into_iter()
                .map(|percent| (percent, format!("{percent} %")))
                .collect(),
            Self::LogMillis { .. } => [1.0, 10.0, 100.0, 1000.0, 10_000.0]
                .into_iter()
                .map(|millis| (millis, unit(millis)))
                .collect(),
            #[expect(clippy::cast_precision_loss, reason = "there are few lanes")]
            Self::Lanes(names) => {
                let names = names.iter().enumerate();
                names
                    .map(|(lane, name)| (lane as f64 + 0.5, name.clone()))
                    .collect()
            }
        }
    }
}

fn unit(millis: f64) -> String {
    if millis < 1000.0 {
        format!("{millis} ms")
    } else {
        format!("{} s", millis / 1000.0)
    }
}

/// A plot under construction.
#[derive(Debug)]
pub struct Plot {
    svg: String,
    height: f64,
    axis: Axis,
    frame: Frame,
}

impl Plot {
    /// A plot with its phases and axes. `name` is for readers who do not see it.
    #[must_use]
    pub fn new(name: &str, height: f64, axis: Axis, frame: Frame) -> Self {
        let mut plot = Self {
            svg: format!(
                "<svg viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{name}\">\n"
            ),
            height,
            axis,
            frame,
        };
        plot.phases();
        plot.horizontal_grid();
        plot.time_axis();
        plot
    }

    /// A line through these points, as far as there is a value; one for each slice.
    pub fn line(&mut self, class: &str, values: impl Iterator<Item = Option<f64>>) {
        let mut points = String::new();
        let mut line_is_down = false;
        for (slice, value) in values.enumerate() {
            let Some(value) = value else {
                line_is_down = false;
                continue;
            };
            let command = if line_is_down { 'L' } else { 'M' };
            let (x, y) = (self.middle_of(slice), self.y(value));
            put(&mut points, format_args!("{command}{x:.1} {y:.1}"));
            line_is_down = true;
        }
        put(
            &mut self.svg,
            format_args!("<path class=\"line {class}\" d=\"{points}\"/>\n"),
        );
    }

    /// A bar in one slice, between two values.
    fn bar(&mut self, class: &str, slice: usize, from: f64, to: f64) {
        let (left, right) = (self.start_of(slice), self.start_of(slice + 1));
        let (top, bottom) = (self.y(to), self.y(from));
        let (width, height) = (right - left, bottom - top);
        put(
            &mut self.svg,
            format_args!(
                "<rect class=\"bar {class}\" x=\"{left:.2}\" y=\"{top:.2}\" width=\"{width:.2}\" height=\"{height:.2}\"/>\n"
            ),
        );
    }

    /// Bars in one slice, one on top of the other; each has a class and a height.
    pub fn stack<'a>(&mut self, slice: usize, bars: impl IntoIterator<Item = (&'a str, f64)>) {
        let mut below = 0.0;
        for (class, height) in bars {
            if height > 0.0 {
                self.bar(class, slice, below, below + height);
            }
            below += height;
        }
    }

    /// A band between two times, and between two values, with a text for the pointer.
    pub fn band(&mut self, class: &str, span: &Range<f64>, values: &Range<f64>, text: &str) {
        let (left, right) = (self.x(span.start), self.x(span.end));
        let (top, bottom) = (self.y(values.end), self.y(values.start));
        let (width, height) = (right - left, bottom - top);
        put(
            &mut self.svg,
            format_args!(
                "<rect class=\"bar {class}\" x=\"{left:.2}\" y=\"{top:.2}\" width=\"{width:.2}\" height=\"{height:.2}\"><title>{text}</title></rect>\n"
            ),
        );
    }

    /// A text that is shown when the pointer is over a slice.
    pub fn hint(&mut self, slice: usize, text: &str) {
        let (left, right) = (self.start_of(slice), self.start_of(slice + 1));
        let (width, height) = (right - left, self.bottom() - TOP);
        put(
            &mut self.svg,
            format_args!(
                "<rect class=\"hint\" x=\"{left:.2}\" y=\"{TOP}\" width=\"{width:.2}\" height=\"{height:.2}\"><title>{text}</title></rect>\n"
            ),
        );
    }

    /// The plot as SVG.
    #[must_use]
    pub fn finish(mut self) -> String {
        self.svg.push_str("</svg>\n");
        self.svg
    }

    fn phases(&mut self) {
        for phase in self.frame.phases().to_vec() {
            let (span, class, label) = (phase.span, phase.class, phase.label);
            let (from, to) = (
                self.x(span.start.as_secs_f64()),
                self.x(span.end.as_secs_f64()),
            );
            let bottom = self.bottom();
            let (width, height) = (to - from, bottom - TOP);
            let (middle, above) = (f64::midpoint(from, to), TOP - 9.0);
            put(
                &mut self.svg,
                format_args!(
                    "<rect class=\"phase {class}\" x=\"{from:.1}\" y=\"{TOP}\" width=\"{width:.1}\" height=\"{height:.1}\"/>\
                     <text class=\"phase {class}\" x=\"{middle:.1}\" y=\"{above}\">{label}</text>\
                     <line class=\"edge\" x1=\"{from:.1}\" x2=\"{from:.1}\" y1=\"{TOP}\" y2=\"{bottom:.1}\"/>\n"
                ),
            );
        }
    }

    fn horizontal_grid(&mut self) {
        for (value, label) in self.axis.ticks() {
            let y = self.y(value);
            let (end, text) = (WIDTH - RIGHT, y + 4.0);
            put(
                &mut self.svg,
                format_args!(
                    "<line class=\"grid\" x1=\"{LEFT}\" x2=\"{end}\" y1=\"{y:.1}\" y2=\"{y:.1}\"/>\
                     <text class=\"tick left\" x=\"{}\" y=\"{text:.1}\">{label}</text>\n",
                    LEFT - 8.0
                ),
            );
        }
    }

    fn time_axis(&mut self) {
        let total = self.frame.total().as_secs_f64();
        let step = time_step(total);
        let bottom = self.bottom();
        let mut seconds = 0.0;
        while seconds <= total {
            let x = self.x(seconds);
            put(
                &mut self.svg,
                format_args!(
                    "<line class=\"edge\" x1=\"{x:.1}\" x2=\"{x:.1}\" y1=\"{bottom}\" y2=\"{}\"/>\
                     <text class=\"tick\" x=\"{x:.1}\" y=\"{}\">{seconds}</text>\n",
                    bottom + 4.0,
                    bottom + 17.0
                ),
            );
            seconds += step;
        }
        let middle = f64::midpoint(LEFT, WIDTH - RIGHT);
        put(
            &mut self.svg,
            format_args!(
                "<text class=\"tick\" x=\"{middle:.1}\" y=\"{:.1}\">seconds since the start</text>\n",
                self.height - 5.0
            ),
        );
    }

    fn bottom(&self) -> f64 {
        self.height - BOTTOM
    }

    fn x(&self, seconds: f64) -> f64 {
        LEFT + (WIDTH - LEFT - RIGHT) * seconds / self.frame.total().as_secs_f64()
    }

    fn y(&self, value: f64) -> f64 {
        let bottom = self.bottom();
        bottom - (bottom - TOP) * self.axis.place(value)
    }

    fn start_of(&self, slice: usize) -> f64 {
        self.x(self.frame.slice_start(slice).as_secs_f64())
    }

    fn middle_of(&self, slice: usize) -> f64 {
        f64::midpoint(self.start_of(slice), self.start_of(slice + 1))
    }
}

/// A round number of seconds, so that a dozen or so of them make up the whole.
fn time_step(total: f64) -> f64 {
    let steps = [1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0];
    let fits = |step: &f64| total / step <= 15.0;
    steps.into_iter().find(fits).unwrap_or(600.0)
}
