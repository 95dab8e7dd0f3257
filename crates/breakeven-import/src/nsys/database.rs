//! A SQLite file: opened where it lies or in memory, its tables asked for columns that they may not have.

use crate::source::{Source, Whole};
use breakeven::{Error, Result};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags, Row, Rows, Statement};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;

/// An open file.
pub(super) struct Database {
    connection: Connection,
    /// The tables and their columns.
    tables: BTreeMap<String, Vec<String>>,
    unreadable: Option<String>,
    /// No table has more rows: a file whose pages point in circles would never end.
    most_rows: u64,
    cut: Cell<bool>,
    /// A file that was unpacked, removed when it is closed.
    _spooled: Option<tempfile::NamedTempFile>,
}

/// No row is smaller, bytes.
const SMALLEST_ROW: u64 = 2;

impl Database {
    /// Opens the file of a source.
    pub(super) fn open(source: Source) -> Result<Self> {
        let name = source.name.clone();
        let damaged = source.ended_badly();
        let expected = expected_size(&source.head);
        let refused = |e: &rusqlite::Error| {
            Error::new("trace-read", format!("cannot open {name}: {e}")).hint("copy the file again, or export it again")
        };
        let mut spooled = None;
        let (connection, size) = match source.whole()? {
            Whole::Memory(mut bytes) => {
                let size = bytes.len() as u64;
                // What a write-ahead log would need is not there; the pages are read as they stand.
                if let Some(versions) = bytes.get_mut(18..20) {
                    versions.fill(1);
                }
                let mut connection = Connection::open_in_memory().map_err(|e| refused(&e))?;
                connection
                    .deserialize_read_exact("main", bytes.as_slice(), bytes.len(), true)
                    .map_err(|e| refused(&e))?;
                (connection, size)
            }
            Whole::Path(path) => on_disk(&path).map_err(|e| refused(&e))?,
            Whole::Spooled(file) => {
                let opened = on_disk(file.path()).map_err(|e| refused(&e))?;
                spooled = Some(file);
                opened
            }
        };
        let most_rows = size / SMALLEST_ROW + 1;
        let mut database = Self {
            connection,
            tables: BTreeMap::new(),
            unreadable: None,
            most_rows,
            cut: Cell::new(damaged || expected.is_some_and(|expected| size < expected)),
            _spooled: spooled,
        };
        if let Err(e) = database.list() {
            database.unreadable = Some(e.to_string());
        }
        Ok(database)
    }

    /// Finds the tables; views and virtual tables, which would run code of the file's, are left alone.
    fn list(&mut self) -> rusqlite::Result<()> {
        self.connection.execute_batch("PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON;")?;
        let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE%'";
        let mut statement = self.connection.prepare(sql)?;
        let mut rows = statement.query([])?;
        let mut names: Vec<String> = Vec::new();
        while let Some(row) = rows.next()? {
            names.push(row.get(0)?);
        }
        let mut tables = BTreeMap::new();
        for name in names {
            let mut statement = self.connection.prepare("SELECT name FROM pragma_table_info(?1)")?;
            let columns = statement.query_map([&name], |row| row.get::<_, String>(0))?;
            let columns: Vec<String> = columns.flatten().collect();
            tables.insert(name, columns);
        }
        drop(rows);
        drop(statement);
        self.tables = tables;
        Ok(())
    }

    /// Why not even its tables are known.
    pub(super) fn unreadable(&self) -> Option<&str> {
        self.unreadable.as_deref()
    }

    /// Whether a part could not be read.
    pub(super) fn cut_short(&self) -> bool {
        self.cut.get()
    }

    pub(super) fn has(&self, table: &str) -> bool {
        self.tables.contains_key(table)
    }

    /// Whether a table's name begins so.
    pub(super) fn any(&self, prefix: &str) -> bool {
        self.tables.keys().any(|table| table.starts_with(prefix))
    }

    pub(super) fn has_column(&self, table: &str, column: &str) -> bool {
        self.tables.get(table).is_some_and(|columns| columns.iter().any(|known| known == column))
    }

    /// Asks a table for columns, those that it lacks as NULL; `None` where there is no such table.
    pub(super) fn table(&self, table: &str, columns: &[&str]) -> Option<Table<'_>> {
        self.ask(table, columns, "")
    }

    /// The same in order of the first column. nsys writes rows in order by thread or by sort of call, run after run.
    pub(super) fn in_order(&self, table: &str, columns: &[&str]) -> Option<Table<'_>> {
        let before = self.cut.replace(false);
        let mut sorted = true;
        if let Some(mut starts) = self.ask(table, &columns[..1], "") {
            let (mut rows, mut last) = (starts.rows(), None);
            while let Some(row) = rows.next() {
                sorted &= row.int(0) >= last;
                last = row.int(0);
            }
        }
        // Where a page is missing, nothing of the table could be put in order.
        let whole = !self.cut.get();
        self.cut.set(before || !whole);
        self.ask(table, columns, if sorted || !whole { "" } else { "ORDER BY 1" })
    }

    fn ask(&self, table: &str, columns: &[&str], order: &str) -> Option<Table<'_>> {
        let known = self.tables.get(table)?;
        let asked: Vec<String> = columns
            .iter()
            .map(
                |column| {
                    if known.iter().any(|name| name == column) { format!("\"{column}\"") } else { "NULL".to_owned() }
                },
            )
            .collect();
        let sql = format!("SELECT {} FROM \"{table}\" {order}", asked.join(", "));
        match self.connection.prepare(&sql) {
            Ok(statement) => Some(Table { statement, left: self.most_rows, cut: &self.cut }),
            Err(_) => {
                self.cut.set(true);
                None
            }
        }
    }

    /// A question with one number in it that has one text as its answer.
    pub(super) fn lookup(&self, sql: &str) -> Option<Statement<'_>> {
        self.connection.prepare(sql).ok()
    }
}

/// How long the file is by its header, bytes; `None` where the header does not vouch for it.
fn expected_size(head: &[u8]) -> Option<u64> {
    let number = |at: usize| Some(u32::from_be_bytes(head.get(at..at + 4)?.try_into().ok()?));
    let page = match u16::from_be_bytes(head.get(16..18)?.try_into().ok()?) {
        1 => 65_536,
        size => u64::from(size),
    };
    // The number of pages holds where the last change was made by a version that keeps it.
    (number(24)? == number(92)?).then_some(u64::from(number(28)?) * page)
}

fn on_disk(path: &Path) -> rusqlite::Result<(Connection, u64)> {
    let size = std::fs::metadata(path).map_or(0, |data| data.len());
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    // Nobody writes it meanwhile: no lock, and no file is made beside it.
    let mut uri = "file:".to_owned();
    for byte in path.as_os_str().as_encoded_bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => uri.push(char::from(*byte)),
            other => uri += &format!("%{other:02X}"),
        }
    }
    Connection::open_with_flags(uri + "?immutable=1", flags).map(|connection| (connection, size))
}

/// The rows of a table.
pub(super) struct Table<'a> {
    statement: Statement<'a>,
    left: u64,
    cut: &'a Cell<bool>,
}

impl Table<'_> {
    pub(super) fn rows(&mut self) -> TableRows<'_> {
        TableRows { rows: self.statement.query([]).ok(), left: self.left, cut: self.cut }
    }
}

/// Rows one after the other, as far as they can be read.
pub(super) struct TableRows<'a> {
    rows: Option<Rows<'a>>,
    left: u64,
    cut: &'a Cell<bool>,
}

impl<'a> TableRows<'a> {
    /// The next row.
    pub(super) fn next(&mut self) -> Option<Cells<'_, 'a>> {
        let row = match self.rows.as_mut()?.next() {
            Ok(Some(row)) if self.left > 0 => Some(row),
            Ok(None) => None,
            _ => {
                self.cut.set(true);
                None
            }
        };
        self.left = self.left.saturating_sub(1);
        row.map(Cells)
    }
}

/// The cells of a row.
pub(super) struct Cells<'a, 'b>(&'a Row<'b>);

impl Cells<'_, '_> {
    /// A whole number, also as text; `None` for NULL and what is no number.
    pub(super) fn int(&self, at: usize) -> Option<i64> {
        match self.0.get_ref(at).ok()? {
            ValueRef::Integer(n) => Some(n),
            ValueRef::Text(text) => crate::times::whole(text),
            _ => None,
        }
    }

    /// A text; `None` for anything else.
    pub(super) fn text(&self, at: usize) -> Option<&[u8]> {
        match self.0.get_ref(at).ok()? {
            ValueRef::Text(text) => Some(text),
            _ => None,
        }
    }
}
