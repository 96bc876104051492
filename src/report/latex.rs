//! The article as a LaTeX document that compiles as it is: booktabs tables that may run over pages,
//! wide ones on landscape pages. Every text is shown literally; a character that the usual fonts lack
//! is shown by its number.

mod escape;
mod layout;

use std::fmt::Write;

use crate::record::RunRecord;
use crate::report::article::{Article, LETTERS, Mark, Part, Prose, Span, Table, article};

use escape::escaped;
use layout::{Layout, Page};

/// Writing into a string cannot fail.
const INFALLIBLE: &str = "writing to a string cannot fail";

const PREAMBLE: &str = r"\documentclass[a4paper,10pt]{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\usepackage{textcomp}
\usepackage[margin=1.8cm]{geometry}
\usepackage{array,booktabs,longtable,pdflscape}
\newcolumntype{L}[1]{>{\raggedright\arraybackslash}p{\dimexpr #1\linewidth-2\tabcolsep\relax}}
\newcolumntype{R}[1]{>{\raggedleft\arraybackslash}p{\dimexpr #1\linewidth-2\tabcolsep\relax}}
\newcommand{\otherchar}[1]{\texttt{U+#1}\allowbreak}
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt}
\setlength{\emergencystretch}{3em}
\setlength{\LTcapwidth}{\linewidth}
";

/// The report of a run as a LaTeX document.
pub fn latex(record: &RunRecord) -> String {
    let Article { title, parts } = article(record);
    let mut text =
        String::from("% Compile with pdflatex, twice: the columns of long tables settle in the second pass.\n");
    text.push_str(PREAMBLE);
    writeln!(text, "\\title{{{}}}\n\\author{{}}\n\\date{{}}\n", escaped(&title)).expect(INFALLIBLE);
    text.push_str("\\begin{document}\n\\maketitle\n");
    let mut parts = parts.iter().peekable();
    while let Some(part) = parts.next() {
        text.push('\n');
        match (part, parts.peek()) {
            // A heading alone on a page would look lost: it goes with its table.
            (Part::Heading(heading), Some(Part::Table(table))) => {
                push_table(&mut text, table, &format!("\\section*{{{}}}\n", escaped(heading)));
                parts.next();
            }
            _ => push_part(&mut text, part),
        }
    }
    text.push_str("\n\\end{document}\n");
    text
}

fn push_part(text: &mut String, part: &Part) {
    match part {
        Part::Heading(heading) => writeln!(text, "\\section*{{{}}}", escaped(heading)).expect(INFALLIBLE),
        Part::Subheading(heading) => writeln!(text, "\\subsection*{{{}}}", escaped(heading)).expect(INFALLIBLE),
        Part::Paragraph(prose) => writeln!(text, "{}", prose_text(prose)).expect(INFALLIBLE),
        Part::List(items) => {
            text.push_str("\\begin{itemize}\n");
            for item in items {
                writeln!(text, "\\item {}", prose_text(item)).expect(INFALLIBLE);
            }
            text.push_str("\\end{itemize}\n");
        }
        Part::Table(table) => push_table(text, table, ""),
    }
}

fn push_table(text: &mut String, table: &Table, heading: &str) {
    let layout = Layout::of(table);
    let (begin, size, end) = match layout.page {
        Page::Portrait => ("", "\\footnotesize", ""),
        Page::Landscape => ("\\begin{landscape}\n", "\\scriptsize", "\\end{landscape}\n"),
    };
    writeln!(text, "{begin}{heading}{{{size}").expect(INFALLIBLE);
    text.push_str("\\setlength{\\tabcolsep}{3pt}\n\\renewcommand{\\arraystretch}{1.2}\n");
    writeln!(text, "\\begin{{longtable}}{{@{{}}{}@{{}}}}", layout.columns()).expect(INFALLIBLE);
    writeln!(text, "\\caption{{{}}}\\\\", escaped(&table.title)).expect(INFALLIBLE);
    let headings: Vec<String> = table.columns.iter().map(|column| escaped(&column.heading())).collect();
    for end in ["\\endfirsthead", "\\endhead"] {
        writeln!(text, "\\toprule\n{} \\\\\n\\midrule\n{end}", headings.join(" & ")).expect(INFALLIBLE);
    }
    text.push_str("\\bottomrule\n\\endlastfoot\n");
    // Rows whose first cell is empty go on with the row above.
    let has_blocks = table.rows.iter().any(|row| is_continued(row));
    for (place, row) in table.rows.iter().enumerate() {
        if has_blocks && place > 0 && !is_continued(row) {
            text.push_str("\\addlinespace\n");
        }
        let cells: Vec<String> = row.iter().map(prose_text).collect();
        writeln!(text, "{} \\\\", cells.join(" & ")).expect(INFALLIBLE);
    }
    text.push_str("\\end{longtable}\n");
    writeln!(text, "\\noindent {}\\par", escaped(&table.caption)).expect(INFALLIBLE);
    for (mark, note) in &table.notes {
        writeln!(text, "\\noindent {} {}\\par", mark_text(*mark), escaped(note)).expect(INFALLIBLE);
    }
    writeln!(text, "}}\n{end}").expect(INFALLIBLE);
}

fn is_continued(row: &[Prose]) -> bool {
    row.first().is_some_and(|cell| cell.0.is_empty())
}

fn prose_text(prose: &Prose) -> String {
    prose.0.iter().map(span_text).collect()
}

fn span_text(span: &Span) -> String {
    match span {
        Span::Plain(text) => escaped(text),
        Span::Strong(text) => format!("\\textbf{{{}}}", escaped(text)),
        Span::Code(word) => format!("\\texttt{{{}}}", escaped(word)),
        Span::Mark(mark) => mark_text(*mark),
    }
}

fn mark_text(mark: Mark) -> String {
    let sign = match mark {
        Mark::Dagger => "\\textdagger{}".to_owned(),
        Mark::DoubleDagger => "\\textdaggerdbl{}".to_owned(),
        Mark::Letter(place) => char::from(LETTERS[place % LETTERS.len()])
            .to_string()
            .repeat(1 + place / LETTERS.len()),
    };
    format!("\\textsuperscript{{{sign}}}")
}

#[cfg(test)]
mod tests;
