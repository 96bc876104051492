//! The document's structure: what LaTeX needs to compile it, checked without LaTeX.

use super::*;
use crate::report::sample::sample_record;

#[test]
fn the_document_is_an_article_of_findings_figures_and_conditions() {
    insta::assert_snapshot!(latex(&sample_record()));
}

/// Every `\begin` has its `\end`, in order, and every brace its other.
fn assert_balanced(document: &str) {
    let mut open = Vec::new();
    let environments = regex::Regex::new(r"\\(begin|end)\{([a-z]+)\}").expect("a good pattern");
    for found in environments.captures_iter(document) {
        match &found[1] {
            "begin" => open.push(found[2].to_owned()),
            _ => assert_eq!(open.pop().as_deref(), Some(&found[2])),
        }
    }
    assert!(open.is_empty(), "{open:?}");
    let bare = document.replace("\\{", "").replace("\\}", "");
    let mut depth = 0_i32;
    for character in bare.chars() {
        depth += match character {
            '{' => 1,
            '}' => -1,
            _ => 0,
        };
        assert!(depth >= 0);
    }
    assert_eq!(depth, 0);
}

#[test]
fn environments_and_braces_are_balanced() {
    assert_balanced(&latex(&sample_record()));
}

#[test]
fn every_row_of_every_table_has_as_many_cells_as_its_header() {
    let document = latex(&sample_record());
    let mut tables = 0;
    for table in document.split("\\begin{longtable}").skip(1) {
        let (table, _) = table.split_once("\\end{longtable}").expect("an end");
        let rows = table.lines().filter(|line| line.ends_with(" \\\\"));
        let counts: std::collections::BTreeSet<usize> =
            rows.map(|row| row.replace("\\&", "").matches('&').count()).collect();
        assert_eq!(counts.len(), 1, "{table}");
        tables += 1;
    }
    assert!(tables >= 3);
}

#[test]
fn a_hostile_name_stays_text() {
    let mut record = sample_record();
    record.rows[0].title = "\\end{document}\\input{/etc/passwd}$x_1^2$ 100% {".to_owned();
    record.rows[0].identity.reported_name = Some("[1cm] & \\\\ \u{1b} ~".to_owned());
    let document = latex(&record);
    assert_balanced(&document);
    assert_eq!(document.matches("\\end{document}").count(), 1);
    assert!(!document.contains("\\input{"));
}
