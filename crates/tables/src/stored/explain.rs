//! Explanations of plans: what they do, cost and reveal.

use std::fmt;

use everlevel::Params;
use serde::Serialize;

use crate::error::TablesError;
use crate::order::MOST_RANKED;
use crate::plan::Plan;
use crate::query::{Fold, OrderedBy};
use crate::stored::cost::{ConditionStart, Costed, PlanCost};

/// The information about a plan that is available before it is run, and without any key.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Explanation {
    /// The query.
    pub query: String,
    /// The name of the parameter set.
    pub params: String,
    /// The number of rows of the table.
    pub rows: usize,
    /// The number of blocks of rows.
    pub blocks: usize,
    /// The number of rows of a block.
    pub block_rows: usize,
    /// The columns that are read.
    pub columns_read: Vec<String>,
    /// Those of them that have an index by which conditions on them are decided, or groups.
    pub indexes_read: Vec<String>,
    /// The public ones among them, on which the server computes conditions in the clear.
    pub public_columns_read: Vec<String>,
    /// Whether public columns may decide that no row of a block meets the condition, so that the
    /// block is skipped.
    pub passes_over_blocks: bool,
    /// The name of each encrypted constant, and the column that it is compared with.
    pub encrypted_constants: Vec<(String, String)>,
    /// The number of groups for which sums are computed, whether or not they have rows.
    pub groups: usize,
    /// The number of sums and counts of each group.
    pub sums: usize,
    /// Whether rows are listed, from which the reader computes the answer.
    pub rows_listed: bool,
    /// The party that orders rows, if any are ordered.
    pub ordered_by: OrderedBy,
    /// The bits of the modulus of the columns.
    pub modulus_bits: u32,
    /// The conditions that begin at a smaller modulus, on a server with keys at all levels.
    pub starts: Vec<ConditionStart>,
    /// The cost.
    pub cost: PlanCost,
    /// What the server learns.
    pub server_learns: String,
    /// What the reader learns: the holder of the secret key.
    pub reader_learns: String,
    /// Notes on comparisons that hold for no row, on groups of rows that public columns tell apart,
    /// of which the cost is that of the largest that are ranked, and on indexes with which the
    /// query takes at least a fifth fewer key switches, for a table that is larger by the stated
    /// bytes, or by twice as many if it is encrypted with the public key.
    pub notes: Vec<String>,
}

impl Plan {
    /// The explanation of the plan for a table of `rows` rows. It takes as long as [`Plan::cost`],
    /// and twice as long if there are columns whose conditions an index could decide and that have
    /// none: what the query takes with such indexes is then found by another rehearsal.
    ///
    /// # Errors
    /// As [`Plan::cost`].
    pub fn explain(&self, params: &Params, rows: usize) -> Result<Explanation, TablesError> {
        let (schema, query) = (self.schema(), self.query());
        let Costed { cost, starts, by_digits } = self.costed(params, rows, || false)?;
        let name = |place: usize| schema.fields()[place].name().to_string();
        let names = |places: &mut dyn Iterator<Item = usize>| {
            let mut names: Vec<String> = places.map(name).collect();
            // The parts of a text have one name.
            names.dedup();
            names
        };
        // Groups of rows that public columns tell apart are ranked as far as these reach.
        let apart = !self.layout(params, rows)?.1.passes.is_empty();
        let borders = match rows > params.slots() {
            true => {
                "; as far as there are groups, it is that of one across the border between each \
                 two blocks, and then of some in each block: a group across the border is compared \
                 by itself, which takes as much as all others of a block, and nothing where no \
                 group lies in two blocks"
            }
            false => "",
        };
        let counted = apart.then(|| match rows > MOST_RANKED {
            true => format!(
                "the cost is that of groups of {MOST_RANKED} rows in sequence, the most that are \
                 ranked: of rows that are nearer to each other fewer are compared, and a server \
                 refuses a table in which rows of a group are further apart{borders}"
            ),
            false => format!(
                "the cost is that of a group with the first and the last one of {rows} rows: of \
                 rows that are nearer to each other, as in a table that is sorted by its public \
                 columns, fewer are compared"
            ),
        });
        let mut indexes = query.index_columns(schema).into_iter().filter(|_| !by_digits);
        let advice = self.advice(params, rows, &cost).map(|advice| advice.to_string());
        let mut read = query.columns().into_iter().filter(|place| *place < schema.fields().len());
        let (groups, sums) = (query.group_codes(schema).len(), query.aggregates.len());
        let constants = query.constants().map(|p| (p.name.clone(), name(p.column)));
        let encrypted_constants: Vec<_> = constants.collect();
        let public_columns_read: Vec<_> =
            self.public_columns().into_iter().map(str::to_string).collect();
        let server_learns = format!(
            "the query with its constants{}, the schema with its bounds and categories, that \
             there are {rows} rows, when it was asked; of the encrypted columns nothing{}",
            if encrypted_constants.is_empty() { "" } else { ", but for those that are encrypted" },
            of_rows(&public_columns_read, self.passes_over(), apart),
        );
        let reader_learns = match &query.listed {
            Some(columns) => {
                let names = names(&mut columns.iter().copied());
                let with = match &names[..] {
                    [] => String::new(),
                    names => format!(", with {}", names.join(", ")),
                };
                let meant = match (query.ordered_by, query.limit) {
                    (OrderedBy::Server, Some(limit)) => format!(
                        "the rows that are meant, in the order asked for as far as the first \
                         {limit}"
                    ),
                    _ => "the rows that are meant".into(),
                };
                format!("{meant}{with}, and their places in the table")
            }
            None if query.orders_groups() => {
                let medians = query.aggregates.iter().any(|a| matches!(a.fold, Fold::Quantile(_)));
                let medians =
                    if medians { "; of a median the two values in the middle" } else { "" };
                format!(
                    "for each of {groups} groups what is asked for: in all {} sums over the rows \
                     that are meant, and {} least or greatest values of them, each with whether \
                     there is one{medians}",
                    cost.sums, cost.extremes
                )
            }
            None => format!(
                "for each of {groups} groups {sums} sums, made of {} sums over all rows that are \
                 meant",
                cost.sums
            ),
        };
        Ok(Explanation {
            query: self.sql().into(),
            params: params.name().into(),
            rows,
            blocks: rows.div_ceil(params.slots()),
            block_rows: params.slots(),
            columns_read: names(&mut read),
            indexes_read: names(&mut indexes),
            public_columns_read,
            passes_over_blocks: self.passes_over(),
            encrypted_constants,
            groups,
            sums,
            rows_listed: query.listed.is_some(),
            ordered_by: query.ordered_by,
            modulus_bits: params.chain().bits(params.chain().top()).round() as u32,
            starts,
            cost,
            server_learns,
            reader_learns,
            notes: self.notes().iter().cloned().chain(counted).chain(advice).collect(),
        })
    }
}

/// What a server learns about the rows of a table with these public columns.
fn of_rows(public: &[String], passes_over: bool, apart: bool) -> String {
    if public.is_empty() {
        return ", not even how many rows are meant: it does the same for all data".into();
    }
    let passed = if passes_over {
        "; blocks of which they tell that no row is meant are passed over, which the time of the \
         answer shows to others"
    } else {
        ""
    };
    let apart = if apart {
        "; how far apart the rows of a group are, and which blocks have some, the time of the \
         answer shows to others"
    } else {
        ""
    };
    let public = public.join(", ");
    format!("; it has {public} in the clear, and which rows meet conditions on them{passed}{apart}")
}

/// A count with what is counted, by its name for one and for more.
fn counted(count: u64, (one, more): (&str, &str)) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

/// A number of bytes in the largest unit in which it is at least 1.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1_000 => format!("{bytes} bytes"),
        1_000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", bytes as f64 / 1e6),
        _ => format!("{:.1} GB", bytes as f64 / 1e9),
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cost = &self.cost;
        // A query is anybody's.
        let query = self.query.chars().map(|c| if c.is_control() { ' ' } else { c });
        writeln!(f, "query: {}", query.collect::<String>())?;
        self.notes.iter().try_for_each(|note| writeln!(f, "note: {note}"))?;
        writeln!(f, "the server learns: {}", self.server_learns)?;
        let read = |name: &String| match self.indexes_read.contains(name) {
            true => format!("{name} with its index"),
            false => name.clone(),
        };
        let read = match &self.columns_read[..] {
            [] => "none but for the number of rows".into(),
            names => names.iter().map(read).collect::<Vec<_>>().join(", "),
        };
        writeln!(f, "it reads the columns: {read}")?;
        writeln!(f, "the reader learns: {}", self.reader_learns)?;
        let blocks = counted(self.blocks as u64, ("block", "blocks"));
        writeln!(f, "{}: {blocks} of {} rows", self.params, self.block_rows)?;
        let starts = self.starts.iter().map(|start| {
            format!("{} bits for {}", start.modulus_bits, start.columns.join(" and "))
        });
        let starts: Vec<String> = starts.collect();
        let lower = if starts.is_empty() { "" } else { "; conditions begin at " };
        let (bits, starts) = (self.modulus_bits, starts.join(", "));
        writeln!(f, "the modulus of the columns has {bits} bits{lower}{starts}")?;
        writeln!(
            f,
            "{} read, {}, {}, {}, {}, about {:.1} s on one core by a model",
            counted(cost.ciphertexts as u64, ("ciphertext", "ciphertexts")),
            counted(cost.levels as u64, ("level", "levels")),
            counted(cost.products, ("product", "products")),
            counted(cost.key_switches, ("key switch", "key switches")),
            counted(cost.refreshes as u64, ("refresh", "refreshes")),
            cost.seconds
        )?;
        write!(
            f,
            "{} of result; about {} of columns are read, {} of encrypted constants sent to the \
             server, {} of result to the reader",
            counted(cost.result_ciphertexts as u64, ("ciphertext", "ciphertexts")),
            size(cost.table_bytes),
            size(cost.constant_bytes),
            size(cost.result_bytes)
        )
    }
}
