//! Text tables.

use std::fmt;

/// Rows of cells. The first two columns are left-aligned, the others right-aligned.
#[derive(Default)]
pub(crate) struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn push(&mut self, row: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(row.into_iter().map(Into::into).collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let cells = |column: usize| self.rows.iter().filter_map(move |row| row.get(column));
        let widths: Vec<usize> = (0..columns)
            .map(|column| cells(column).map(|cell| cell.chars().count()).max().unwrap_or(0))
            .collect();
        for row in &self.rows {
            let mut line = String::new();
            for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
                if column < 2 {
                    line += &format!("{cell:width$}  ");
                } else {
                    line += &format!("{cell:>width$}  ");
                }
            }
            writeln!(f, "{}", line.trim_end())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_left_aligned_and_figures_right_aligned() {
        let mut table = Table::default();
        table.push(["stage", "memory", "time"]);
        table.push(["parse", "heap", "12.3 µs"]);
        table.push(["", "scopes", "8 µs"]);
        assert_eq!(
            table.to_string(),
            "stage  memory     time\nparse  heap    12.3 µs\n       scopes     8 µs\n"
        );
    }
}
