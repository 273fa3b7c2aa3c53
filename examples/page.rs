//! The parts of a report: one page that needs nothing else.

use std::fmt::Write;
use std::fs;
use std::io;
use std::path::Path;

use crate::text::count;

const STYLE: &str = include_str!("style.css");

/// Begins a page.
#[must_use]
pub fn begin(title: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n"
    )
}

/// Ends a page.
#[must_use]
pub fn end(mut page: String) -> String {
    page.push_str("</body>\n</html>\n");
    page
}

/// Writes a page, and the folder that it is in.
///
/// # Errors
/// If the file or the folder cannot be written.
pub fn write(path: &Path, page: &str) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(path, page)
}

/// What the colours of a plot mean: classes of the style sheet, and names.
#[must_use]
pub fn legend(entries: &[(&str, &str)]) -> String {
    let mut legend = String::new();
    for (class, name) in entries {
        put(
            &mut legend,
            format_args!("<span class=\"key {class}\"><i></i>{name}</span>"),
        );
    }
    legend
}

/// A plot with its title and legend.
pub fn figure(page: &mut String, title: &str, legend: &str, drawn: &str) {
    put(
        page,
        format_args!(
            "<figure>\n<figcaption><b>{title}</b>{legend}</figcaption>\n{drawn}</figure>\n"
        ),
    );
}

/// A titled list of counts.
pub fn list<K: AsRef<str>>(
    page: &mut String,
    title: &str,
    counts: impl IntoIterator<Item = (K, impl std::borrow::Borrow<u64>)>,
) {
    put(
        page,
        format_args!("<section><h2>{title}</h2>\n<table class=\"small\">\n"),
    );
    for (what, number) in counts {
        put(
            page,
            format_args!(
                "<tr><td class=\"text\">{}</td><td>{}</td></tr>\n",
                escaped(what.as_ref()),
                count(*number.borrow())
            ),
        );
    }
    page.push_str("</table></section>\n");
}

/// A text as HTML shows it.
#[must_use]
pub fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

/// Adds to a text; writing to a string cannot fail.
pub fn put(text: &mut String, more: std::fmt::Arguments<'_>) {
    let _ = text.write_fmt(more);
}
