//! Tables: of figures in columns, with what they were measured on.

use std::fmt;
use std::io::{self, Write};

use serde::Serialize;
use serde_json::{Map, Value, json};

use crate::Cost;

/// One table.
#[derive(Clone, Debug)]
pub struct Section {
    title: &'static str,
    note: &'static str,
    columns: &'static [&'static str],
    rows: Vec<(String, Vec<Option<f64>>)>,
    remarks: Vec<String>,
}

impl Section {
    /// An empty table.
    #[must_use]
    pub fn new(title: &'static str, note: &'static str, columns: &'static [&'static str]) -> Self {
        Self {
            title,
            note,
            columns,
            rows: Vec::new(),
            remarks: Vec::new(),
        }
    }

    /// A table of costs, each beside what it adds to `base`.
    #[must_use]
    pub fn of_costs(title: &'static str, note: &'static str, costs: &[Cost], base: &Cost) -> Self {
        let mut section = Self::new(title, note, COST_COLUMNS);
        for cost in costs {
            section.add_cost(cost, Some(base));
        }
        section
    }

    /// Adds a row.
    pub fn add(&mut self, name: impl Into<String>, figures: impl IntoIterator<Item = Option<f64>>) {
        self.rows.push((name.into(), figures.into_iter().collect()));
    }

    /// Adds the row of a cost in a table of costs, beside what it adds to another.
    pub fn add_cost(&mut self, cost: &Cost, base: Option<&Cost>) {
        let own = [
            Some(cost.nanos),
            cost.spread,
            Some(cost.least),
            Some(cost.allocations),
            Some(cost.bytes),
            cost.future,
        ];
        let added = base.map(|base| {
            [
                cost.nanos - base.nanos,
                cost.allocations - base.allocations,
                cost.bytes - base.bytes,
            ]
        });
        let added = added.map_or([None; 3], |added| added.map(Some));
        self.add(cost.name.clone(), own.into_iter().chain(added));
    }

    /// Adds a text below the table.
    pub fn remark(&mut self, remark: impl Into<String>) {
        self.remarks.push(remark.into());
    }

    /// Writes the table.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        writeln!(out, "\n{}", self.title)?;
        if !self.note.is_empty() {
            writeln!(out, "  {}", self.note)?;
        }
        write!(out, "{:<56}", "")?;
        for column in self.columns {
            write!(out, "{column:>11}")?;
        }
        writeln!(out)?;
        for (name, figures) in &self.rows {
            write!(out, "{name:<56}")?;
            for figure in figures {
                let figure = figure.map_or("-".to_owned(), shown);
                write!(out, "{figure:>11}")?;
            }
            writeln!(out)?;
        }
        for remark in &self.remarks {
            writeln!(out, "  {}", remark.replace('\n', "\n    "))?;
        }
        Ok(())
    }

    /// The table as one JSON object.
    #[must_use]
    pub fn json(&self) -> Value {
        let rows = self.rows.iter().map(|(name, figures)| {
            let mut row = Map::new();
            row.insert("name".to_owned(), json!(name.trim()));
            for (column, figure) in self.columns.iter().zip(figures) {
                row.insert((*column).to_owned(), json!(figure.map(rounded)));
            }
            Value::Object(row)
        });
        json!({ "title": self.title, "note": self.note, "rows": rows.collect::<Vec<_>>(), "remarks": self.remarks })
    }
}

/// What the columns of a table of costs say.
pub(crate) const LEGEND: &str = "ns: nanoseconds of the thread's own time, the median of interleaved rounds; +-: half of the quartiles' distance;
least: the quickest round; allocs, bytes: heap allocations and their bytes; future: bytes of the response future;
+ns, +allocs, +bytes: more than the row that the table's note names. Differences of 100 ns come and go between runs.";

/// The columns of a table of costs; those with a plus are what is added.
const COST_COLUMNS: &[&str] = &[
    "ns", "+-", "least", "allocs", "bytes", "future", "+ns", "+allocs", "+bytes",
];

fn rounded(figure: f64) -> f64 {
    (figure * 100.0).round() / 100.0
}

/// A figure as it is read: three places at least, and no more than hundredths.
pub(crate) fn shown(figure: f64) -> String {
    // Counts are whole.
    if figure.abs() >= 100.0 || figure.fract() == 0.0 {
        // Never a negative nothing.
        format!("{:.0}", figure + 0.0)
    } else {
        format!("{:.2}", rounded(figure) + 0.0)
    }
}

/// What the figures were measured on.
#[derive(Clone, Debug, Serialize)]
pub struct Machine {
    cpu: String,
    cores: usize,
}

impl Machine {
    /// This one.
    #[must_use]
    pub fn this() -> Self {
        Self {
            cpu: cpu_model(),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
        }
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}, {} cores", self.cpu, self.cores)
    }
}

/// The processor's name with the numbers that tell generations apart; virtual machines shorten names.
#[must_use]
pub fn cpu_model() -> String {
    let text = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let lines = text.lines().map_while(|line| line.split_once(':'));
        let mut values = lines.filter(|(key, _)| key.trim() == name);
        values.next().map_or("unknown", |(_, value)| value.trim())
    };
    format!(
        "{} (family {}, model {})",
        field("model name"),
        field("cpu family"),
        field("model")
    )
}
