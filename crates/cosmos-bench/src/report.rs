//! Figures and the goals that they are held to.

use std::io::{self, Write};

use serde::Serialize;

use crate::section::shown;

/// What a figure should be.
#[derive(Copy, Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Goal {
    /// This much or less.
    AtMost(f64),
    /// This much or more.
    AtLeast(f64),
}

impl Goal {
    fn is_met_by(self, value: f64) -> bool {
        match self {
            Self::AtMost(most) => value <= most,
            Self::AtLeast(least) => value >= least,
        }
    }

    fn shown(self, unit: &str) -> String {
        match self {
            Self::AtMost(most) => format!("<= {most} {unit}"),
            Self::AtLeast(least) => format!(">= {least} {unit}"),
        }
    }
}

/// One figure.
#[derive(Clone, Debug, Serialize)]
pub struct Figure {
    name: String,
    value: f64,
    unit: &'static str,
    goal: Option<Goal>,
    met: Option<bool>,
}

/// What a benchmark found.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Report {
    figures: Vec<Figure>,
    references: Vec<&'static str>,
}

impl Report {
    /// Adds a figure, rounded to hundredths, with its goal if it has one.
    pub fn add(
        &mut self,
        name: impl Into<String>,
        value: f64,
        unit: &'static str,
        goal: Option<Goal>,
    ) {
        let value = (value * 100.0).round() / 100.0;
        self.figures.push(Figure {
            name: name.into(),
            value,
            unit,
            goal,
            met: goal.map(|goal| goal.is_met_by(value)),
        });
    }

    /// Adds what others have measured elsewhere, to compare with.
    pub fn compare_with(&mut self, reference: &'static str) {
        self.references.push(reference);
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.figures.is_empty()
    }

    /// Writes a table, or one JSON object.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, out: &mut impl Write, json: bool) -> io::Result<()> {
        if json {
            return writeln!(out, "{}", serde_json::to_value(self).unwrap_or_default());
        }
        let names = self
            .figures
            .iter()
            .map(|figure| figure.name.chars().count());
        let width = names.max().unwrap_or_default();
        for figure in &self.figures {
            let goal = figure.goal.map(|goal| goal.shown(figure.unit));
            let met = match figure.met {
                None => "",
                Some(true) => "pass",
                Some(false) => "MISS",
            };
            writeln!(
                out,
                "{:<width$} {:>9} {:<4} {:<13} {met}",
                figure.name,
                shown(figure.value),
                figure.unit,
                goal.unwrap_or_default()
            )?;
        }
        for reference in &self.references {
            writeln!(out, "for reference: {reference}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_held_to_its_goal() {
        let mut report = Report::default();
        report.add("fast", 99.999, "ns", Some(Goal::AtMost(100.0)));
        report.add("slow", 100.01, "ns", Some(Goal::AtMost(100.0)));
        report.add("wide", 1.7, "x", Some(Goal::AtLeast(1.7)));
        report.add("free", 1.0, "x", None);
        let met: Vec<_> = report.figures.iter().map(|figure| figure.met).collect();
        assert_eq!(met, [Some(true), Some(false), Some(true), None]);
    }
}
