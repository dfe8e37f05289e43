//! Files of a command: reading what has a bounded size, and what is said of a file that cannot be
//! read or written.

use std::fs::File;
use std::io::Read;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use everlevel::ParamsSpec;
use everlevel_wire::file::{Existing, NewFiles, write_file, write_secret_file};
use everlevel_wire::{ObjectKind, WireError};

use crate::console::args::Common;
use crate::console::errors::CliError;
use crate::console::output::emit_bytes;

/// Whether a path stands for standard input, or for standard output: `-`.
pub fn is_standard(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads a file, or standard input, of at most `limit` bytes.
pub fn read_bytes(path: &Path, limit: u64, what: &str) -> Result<Vec<u8>, CliError> {
    let shown = path.display();
    let mut bytes = Vec::new();
    let read = if is_standard(path) {
        std::io::stdin().lock().take(limit + 1).read_to_end(&mut bytes)
    } else {
        let file = File::open(path)
            .map_err(|e| CliError::usage(format!("cannot open {what} {shown}: {e}")))?;
        file.take(limit + 1).read_to_end(&mut bytes)
    };
    read.map_err(|e| CliError::usage(format!("cannot read {what} {shown}: {e}")))?;
    if bytes.len() as u64 > limit {
        return Err(CliError::usage(format!(
            "{what} {shown} is larger than {limit} bytes, the limit: split it"
        )));
    }
    Ok(bytes)
}

/// Reads a text file of at most `limit` bytes.
pub fn read_text(path: &Path, limit: u64, what: &str) -> Result<String, CliError> {
    let not_text = |_| CliError::usage(format!("{what} {} is not UTF-8 text", path.display()));
    String::from_utf8(read_bytes(path, limit, what)?).map_err(not_text)
}

/// An error of a file, with its name and its stable code.
pub fn of_file(path: &Path) -> impl Fn(WireError) -> CliError + '_ {
    move |e| {
        let code = e.code();
        let told = match e {
            // These name their file.
            WireError::Exists { .. } => format!("{e} (--force replaces it)"),
            WireError::Io { .. } | WireError::Interrupted { .. } => e.to_string(),
            WireError::UnknownOwner { .. } => {
                format!("{}: {e}; on the command line, --allow-unknown-owner", path.display())
            }
            e => format!("{}: {e}", path.display()),
        };
        CliError::usage(told).with_code(code)
    }
}

/// An error of a file that is written: that there is no directory for it, or a directory in its
/// place, is the user's mistake, and what else the system refuses, such as a full disk, a failure.
/// `out` is the file, or a directory for several.
pub fn of_output(out: &Path) -> impl Fn(WireError) -> CliError + '_ {
    let possible = |path: &Path| {
        let directory = path.parent().filter(|p| !p.as_os_str().is_empty());
        !path.is_dir() && (out.is_dir() || directory.is_none_or(Path::is_dir))
    };
    move |e| match &e {
        WireError::Io { path, .. } if possible(Path::new(path)) => {
            CliError::failure(e.to_string()).with_code(e.code())
        }
        _ => of_file(out)(e),
    }
}

/// What results never replace.
const KEPT: [ObjectKind; 4] =
    [ObjectKind::PARAMS, ObjectKind::SECRET_KEY, ObjectKind::PUBLIC_KEY, ObjectKind::SERVER_KEYS];

/// The largest parameter file in bytes.
pub const MAX_PARAMS_BYTES: u64 = 64 << 10;

/// What a file is that results never replace: an object of [`KEPT`], or parameters as `keygen`
/// writes them beside keys, which do without them no more than without each other.
fn kept(path: &Path) -> Option<String> {
    // Looking at anything else, such as a pipe, could wait forever.
    if !path.metadata().is_ok_and(|found| found.is_file()) {
        return None;
    }
    if let Ok(found) = everlevel_wire::inspect_file(path) {
        return KEPT.contains(&found.kind).then(|| found.kind.to_string());
    }
    let text = read_text(path, MAX_PARAMS_BYTES, "the file").ok()?;
    let spec = serde_json::from_str::<ParamsSpec>(&text);
    spec.is_ok().then(|| "a parameter set".into())
}

/// What becomes of a file that is there.
pub fn existing(force: bool) -> Existing {
    if force { Existing::Replace } else { Existing::Keep }
}

/// Refuses a file that is there, before any work; with `force` keys and parameters only, which
/// nothing but new keys may replace.
pub fn check_free(path: &Path, force: bool) -> Result<(), CliError> {
    if is_standard(path) || path.symlink_metadata().is_err() {
        return Ok(());
    }
    let exists = WireError::Exists { path: path.display().to_string() };
    if !force {
        return Err(of_file(path)(exists));
    }
    match kept(path) {
        Some(kind) => {
            let told = format!(
                "{} ({kind}) is not replaced, not even with --force: remove it, or choose another \
                 name",
                path.display()
            );
            Err(CliError::usage(told).with_code(exists.code()))
        }
        None => Ok(()),
    }
}

/// Refuses `-` where nothing is written to standard output: it would be the name of a file.
pub fn check_named(path: &Path) -> Result<(), CliError> {
    if is_standard(path) {
        return Err(CliError::usage(
            "-: this command writes a file, not standard output: name the file; one that is called \
             - is written as ./-",
        ));
    }
    Ok(())
}

/// [`check_free`] where nothing is written to standard output.
pub fn check_file(path: &Path, force: bool) -> Result<(), CliError> {
    check_named(path)?;
    check_free(path, force)
}

/// Refuses to replace what a command reads: a file, or one in a directory.
pub fn check_apart<P>(out: &Path, inputs: impl IntoIterator<Item = P>) -> Result<(), CliError>
where
    // Paths, and not the parts of one, which a path is a list of.
    P: Deref<Target: AsRef<Path> + ToOwned<Owned = PathBuf>>,
{
    // What is not there is not replaced.
    let Ok(found) = out.canonicalize() else { return Ok(()) };
    for input in inputs {
        let input = (*input).as_ref();
        if input.canonicalize().is_ok_and(|input| found.starts_with(input)) {
            let told = format!(
                "{} is what the command reads ({}), and would be replaced by what it writes: \
                 choose another name for the output",
                out.display(),
                input.display()
            );
            let exists = WireError::Exists { path: out.display().to_string() };
            return Err(CliError::usage(told).with_code(exists.code()));
        }
    }
    Ok(())
}

/// Refuses `--json` where standard output already gets what the command writes.
pub fn check_standard(out: &Path, common: &Common) -> Result<(), CliError> {
    if is_standard(out) && common.json {
        let told = "--out - and --json both write to standard output: give a file to --out";
        return Err(CliError::usage(told));
    }
    Ok(())
}

/// Writes a file in one step, or standard output.
pub fn write_output(out: &Path, bytes: &[u8], force: bool) -> Result<(), CliError> {
    match is_standard(out) {
        true => emit_bytes(bytes),
        false => write_file(out, bytes, existing(force)).map_err(of_output(out)),
    }
}

/// The same for what was secret, which nobody else needs to read.
pub fn write_secret_output(out: &Path, bytes: &[u8], force: bool) -> Result<(), CliError> {
    match is_standard(out) {
        true => emit_bytes(bytes),
        false => write_secret_file(out, bytes, existing(force)).map_err(of_output(out)),
    }
}

/// The files that a command writes together, standard output among them: if one cannot be written,
/// none of those that are there is replaced.
#[derive(Default)]
pub struct Outputs(NewFiles);

impl Outputs {
    /// Writes one more file, which has its name once all are finished; or standard output, at once.
    pub fn add(&mut self, out: &Path, bytes: &[u8], force: bool) -> Result<(), CliError> {
        match is_standard(out) {
            true => emit_bytes(bytes),
            false => self.0.add(out, bytes, existing(force)).map_err(of_output(out)),
        }
    }

    /// Gives all files their names.
    pub fn finish(self) -> Result<(), CliError> {
        self.0.finish().map_err(|e| {
            let path = match &e {
                WireError::Io { path, .. } | WireError::Exists { path } => PathBuf::from(path),
                _ => PathBuf::new(),
            };
            of_output(&path)(e)
        })
    }
}

/// Creates a directory for results.
pub fn create_directory(path: &Path) -> Result<(), CliError> {
    use std::io::ErrorKind::{QuotaExceeded, StorageFull};
    std::fs::create_dir_all(path).map_err(|e| {
        let mut told = format!("cannot create the directory {}: {e}", path.display());
        if path.is_file() {
            told.push_str(": the results go to a directory, so name one, or a new one");
        }
        match e.kind() {
            StorageFull | QuotaExceeded => CliError::failure(told),
            _ => CliError::usage(told),
        }
    })
}

/// A path as a text, in which what is no UTF-8 is replaced: a report comes after the work.
pub fn path_text<S: serde::Serializer>(path: &Path, to: S) -> Result<S::Ok, S::Error> {
    to.collect_str(&path.display())
}

/// A file that was written, for reports.
#[derive(serde::Serialize)]
pub struct Written {
    /// Where.
    #[serde(serialize_with = "path_text")]
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
}
