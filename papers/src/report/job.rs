//! One run of a program.

/// One run of the program, which makes one record.
pub struct Job {
    /// The record's name, which `--only` takes.
    pub name: String,
    /// The table or plot that it is for.
    pub group: String,
    /// The program.
    pub program: Program,
    /// Its arguments.
    pub args: Vec<String>,
}

/// Whose command a job runs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Program {
    /// `papers`: a table, AES, or the keys of the papers.
    Papers,
    /// `everlevel`: what is measured beside the tables.
    Everlevel,
}

impl Program {
    /// The program that has a command.
    pub(super) fn of(command: &str) -> Self {
        match command {
            "params" | "bench" | "explain" => Program::Everlevel,
            _ => Program::Papers,
        }
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Program::Papers => "papers",
            Program::Everlevel => "everlevel",
        }
    }
}

/// The commands of tables and the soak test, which write their records themselves.
pub(super) const PAPERS: [&str; 4] = ["chen-han", "ma-et-al", "ltv", "soak"];

impl Job {
    /// Whether the program writes the record itself; else it prints it.
    pub fn writes(&self) -> bool {
        self.args.first().is_some_and(|a| PAPERS.contains(&a.as_str()))
    }

    /// The command that runs it, as it is typed.
    pub fn command(&self) -> String {
        format!("{} {}", self.program.name(), self.args.join(" "))
    }
}
