//! Columns that line up, in text and in Markdown.

use super::words::UNKNOWN;
use super::wrap::cut;

/// Which side a column keeps to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Align {
    /// Names.
    Left,
    /// Figures.
    Right,
}

/// The cells of one line, each with the place of its column and its side.
pub(super) type Cells<'a> = Vec<(usize, &'a str, Align)>;

/// A header and rows of as many cells. Cells are counted by character.
#[derive(Clone, Debug, Default)]
pub struct Table {
    columns: Vec<(String, Align)>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// A table without rows.
    pub fn new(columns: &[(&str, Align)]) -> Self {
        Self { columns: columns.iter().map(|(name, align)| ((*name).to_owned(), *align)).collect(), rows: Vec::new() }
    }

    /// One more row; missing cells are empty.
    pub fn row(&mut self, cells: Vec<String>) {
        self.rows.push(cells);
    }

    /// Whether no row was added.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Columns in which nothing is known are left out.
    fn shown(&self) -> Vec<usize> {
        let known = |cell: &String| !cell.is_empty() && cell != UNKNOWN;
        let filled = |c: usize| self.rows.iter().any(|row| row.get(c).is_some_and(known));
        (0..self.columns.len()).filter(|&c| filled(c)).collect()
    }

    /// Characters of each column.
    fn widths(&self) -> Vec<usize> {
        let width = |c: usize| {
            let cells = self.rows.iter().map(|row| row.get(c).map_or(0, |cell| cell.chars().count()));
            cells.max().unwrap_or(0).max(self.columns[c].0.chars().count())
        };
        (0..self.columns.len()).map(width).collect()
    }

    /// Characters of a line.
    fn width(&self) -> usize {
        let widths = self.widths();
        self.shown().into_iter().map(|c| widths[c] + 2).sum()
    }

    /// The same table without the columns whose headers begin so, one after the other until a line has at most `width`
    /// characters.
    #[must_use]
    pub fn without(mut self, least: &[&str], width: usize) -> Self {
        for name in least {
            if self.width() > width
                && let Some(c) = self.columns.iter().position(|(header, _)| header.starts_with(name))
            {
                self.columns.remove(c);
                self.rows.iter_mut().filter(|row| c < row.len()).for_each(|row| drop(row.remove(c)));
            }
        }
        self
    }

    /// The same table with the column of that header cut until a line has at most `width` characters, but not to fewer
    /// than `least`.
    #[must_use]
    pub fn cut(mut self, header: &str, least: usize, width: usize) -> Self {
        let excess = self.width().saturating_sub(width);
        if excess > 0
            && let Some(c) = self.columns.iter().position(|(name, _)| name == header)
        {
            let most = self.widths()[c].saturating_sub(excess).max(least);
            let cells = self.rows.iter_mut().filter_map(|row| row.get_mut(c));
            cells.chain([&mut self.columns[c].0]).for_each(|cell| *cell = cut(cell, most));
        }
        self
    }

    /// Lines indented by two, columns two apart; `paint` colours a padded cell by its row (the header is `None`)
    /// and text.
    pub fn text(&self, paint: impl Fn(Option<usize>, &str, String) -> String) -> String {
        let (shown, widths) = (self.shown(), self.widths());
        let header: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        let mut out = String::new();
        let mut line = |row: Option<usize>, cells: &[&str]| {
            let mut text = String::new();
            for (i, &c) in shown.iter().enumerate() {
                let cell = cells.get(c).copied().unwrap_or("");
                let pad = " ".repeat(widths[c] - cell.chars().count());
                let last = i + 1 == shown.len();
                let padded = match self.columns[c].1 {
                    Align::Right => pad + cell,
                    Align::Left if last => cell.to_owned(),
                    Align::Left => cell.to_owned() + &pad,
                };
                text += "  ";
                text += &paint(row, cell, padded);
            }
            out += text.trim_end();
            out.push('\n');
        };
        line(None, &header);
        for (i, row) in self.rows.iter().enumerate() {
            line(Some(i), &row.iter().map(String::as_str).collect::<Vec<_>>());
        }
        out
    }

    /// The same table with every header and cell changed.
    #[must_use]
    pub fn map(mut self, change: impl Fn(&str) -> String) -> Self {
        let headers = self.columns.iter_mut().map(|(name, _)| name);
        for cell in headers.chain(self.rows.iter_mut().flatten()) {
            *cell = change(cell);
        }
        self
    }

    /// Header and rows, without columns in which nothing is known.
    pub(super) fn cells(&self) -> (Cells<'_>, Vec<Cells<'_>>) {
        let shown = self.shown();
        let header = shown.iter().map(|&c| (c, self.columns[c].0.as_str(), self.columns[c].1)).collect();
        let mut rows = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            let cell = |&c: &usize| (c, row.get(c).map_or("", String::as_str), self.columns[c].1);
            rows.push(shown.iter().map(cell).collect());
        }
        (header, rows)
    }

    /// A Markdown table; the caller has escaped the cells.
    pub fn markdown(&self) -> String {
        let shown = self.shown();
        let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
        let mut out = line(shown.iter().map(|&c| self.columns[c].0.as_str()).collect());
        out += &line(shown.iter().map(|&c| if self.columns[c].1 == Align::Right { "---:" } else { "---" }).collect());
        for row in &self.rows {
            out += &line(shown.iter().map(|&c| row.get(c).map_or("", String::as_str)).collect());
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_right_and_empty_columns_go() {
        let mut table = Table::new(&[("GPU", Align::Left), ("never", Align::Left), ("time", Align::Right)]);
        table.row(vec!["L4".into(), String::new(), "1.3 s".into()]);
        table.row(vec!["H100".into(), String::new(), "250 ms".into()]);
        insta::assert_snapshot!(table.text(|_, _, cell| cell), @"
          GPU     time
          L4     1.3 s
          H100  250 ms
        ");
        insta::assert_snapshot!(table.markdown(), @"
        | GPU | time |
        | --- | ---: |
        | L4 | 1.3 s |
        | H100 | 250 ms |
        ");
    }

    #[test]
    fn columns_go_and_are_cut_until_the_line_fits() {
        let mut table = Table::new(&[("GPU", Align::Left), ("energy, Wh", Align::Right), ("time, s", Align::Right)]);
        table.row(vec!["GeForce RTX 3060 12GB".into(), "12".into(), "1.3".into()]);
        let narrow = table.without(&["CO₂", "energy"], 30).cut("GPU", 8, 30);
        insta::assert_snapshot!(narrow.text(|_, _, cell| cell), @"
          GPU                  time, s
          GeForce RTX 3060 1…      1.3
        ");
    }
}
