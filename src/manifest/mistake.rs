//! Mistakes, shown as rustc shows its own: what is wrong, the place, the line with a caret, what would be right.

use std::error::Error;
use std::fmt;
use std::ops::Range;
use std::path::Path;

use annotate_snippets::renderer::DecorStyle;
use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};

use super::secrets;

/// One mistake.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mistake {
    /// Where, in bytes of the text.
    pub span: Range<usize>,
    /// What is wrong.
    pub title: String,
    /// What stands beside the caret.
    pub label: Option<String>,
    /// What would be right, one line each.
    pub help: Vec<String>,
}

/// All mistakes of a manifest, in the order of the text.
#[derive(Clone, Debug)]
pub struct Mistakes {
    path: String,
    source: String,
    all: Vec<Mistake>,
}

impl Mistake {
    pub(crate) fn new(span: Range<usize>, title: impl Into<String>) -> Self {
        Self {
            span,
            title: title.into(),
            label: None,
            help: Vec::new(),
        }
    }

    pub(crate) fn label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    pub(crate) fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Help that names the nearest known word, or all of them.
    pub(crate) fn did_you_mean(self, word: &str, known: &[&str]) -> Self {
        match super::closest(word, known.iter().copied()) {
            Some(closest) => self.help(format!("did you mean `{closest}`?")),
            None if known.is_empty() => self,
            None => self.help(format!("known here: {}", known.join(", "))),
        }
    }
}

impl Mistakes {
    /// Secrets of the text are hidden here, so that none can be shown.
    pub(crate) fn new(path: &Path, source: &str, mut mistakes: Vec<Mistake>) -> Self {
        let (source, mask) = secrets::hide(source);
        for mistake in &mut mistakes {
            let texts = mistake
                .help
                .iter_mut()
                .chain(&mut mistake.label)
                .chain([&mut mistake.title]);
            texts.for_each(|text| *text = mask.apply(text).into_owned());
        }
        mistakes.sort_by_key(|mistake| (mistake.span.start, mistake.span.end));
        mistakes.dedup();
        Self {
            path: path.display().to_string(),
            source,
            all: mistakes,
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there are none; never, where parsing failed.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Each of them, in the order of the text.
    pub fn iter(&self) -> impl Iterator<Item = &Mistake> {
        self.all.iter()
    }

    /// The text for a file, a pipe or a terminal without colours.
    pub fn plain(&self) -> String {
        self.render(&Renderer::plain())
    }

    /// The text with ANSI colours; it says no more than the plain one.
    pub fn coloured(&self) -> String {
        self.render(&Renderer::styled())
    }

    fn render(&self, renderer: &Renderer) -> String {
        let renderer = renderer.clone().decor_style(DecorStyle::Ascii);
        let mut text = String::new();
        for mistake in &self.all {
            text.push_str(&renderer.render(&self.report(mistake)));
            text.push_str("\n\n");
        }
        text
    }

    fn report<'text>(&'text self, mistake: &'text Mistake) -> [Group<'text>; 1] {
        let span = self.visible(&mistake.span);
        let snippet = Snippet::source(self.source.as_str())
            .path(self.path.as_str())
            .annotation(AnnotationKind::Primary.span(span).label(mistake.label.as_deref()));
        let help = mistake.help.iter().map(|help| Level::HELP.message(help.as_str()));
        [Level::ERROR
            .primary_title(mistake.title.as_str())
            .element(snippet)
            .elements(help)]
    }

    /// The span cut to its first line and to the text, on character boundaries.
    fn visible(&self, span: &Range<usize>) -> Range<usize> {
        let floor = |offset: usize| self.source.floor_char_boundary(offset.min(self.source.len()));
        let (start, end) = (floor(span.start), floor(span.end));
        let end = self.source[start..end.max(start)]
            .find('\n')
            .map_or(end.max(start), |length| start + length);
        start..end
    }
}

impl fmt::Display for Mistakes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.plain())
    }
}

impl Error for Mistakes {}
