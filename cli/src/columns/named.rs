//! Columns of a CSV file that are chosen by their names in its first line.

use everlevel_tables::did_you_mean;

/// Reads the columns of these names row by row: `value` is told which of the names a cell is of,
/// its line, and what is in it. A line that is empty is a row whose values are missing, but at the
/// end of the file.
///
/// # Errors
/// What was expected and what is there instead; what `value` says.
pub fn read(
    text: &str,
    names: &[&str],
    mut value: impl FnMut(usize, usize, &str) -> Result<(), String>,
) -> Result<(), String> {
    let text = text.trim_start_matches('\u{feff}').trim_end();
    let mut lines = text.lines().zip(1..);
    let header = lines.next().ok_or("expected a header with the names of the columns")?;
    let header = cells(header.0).map_err(|problem| format!("line 1: {problem}"))?;
    let places = names.iter().map(|name| place(&header, name)).collect::<Result<Vec<_>, _>>()?;
    for (line, number) in lines {
        let cells = cells(line).map_err(|problem| format!("line {number}: {problem}"))?;
        if cells.len() != header.len() {
            let (found, expected) = (cells.len(), header.len());
            return Err(match line.trim().is_empty() {
                true => format!("line {number} is empty: rows keep their places, so fill it in"),
                false => format!("line {number} has {found} cells, and the header has {expected}"),
            });
        }
        for (name, place) in places.iter().enumerate() {
            value(name, number, &cells[*place])?;
        }
    }
    Ok(())
}

/// Where the column of this name is.
fn place(header: &[String], name: &str) -> Result<usize, String> {
    let mut found = header.iter().enumerate().filter(|(_, cell)| *cell == name);
    match (found.next(), found.next()) {
        (Some((place, _)), None) => Ok(place),
        (Some(_), Some(_)) => Err(format!("the header has {name} twice")),
        (None, _) => Err(unknown(name, header.iter().map(String::as_str))),
    }
}

/// That there is no column of this name, and which there are.
pub fn unknown<'a>(name: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    let all: Vec<&str> = names.clone().collect();
    let meant = did_you_mean(name, names);
    format!("no column is named {name}: there are {}{meant}", all.join(", "))
}

/// The cells of a line. Quoted ones may hold commas, and quotes twice.
fn cells(line: &str) -> Result<Vec<String>, String> {
    let (mut out, mut rest) = (Vec::new(), Some(line));
    while let Some(line) = rest {
        let (cell, left) = match line.trim_start().strip_prefix('"') {
            None => match line.split_once(',') {
                None => (line.to_string(), None),
                Some((cell, left)) => (cell.to_string(), Some(left)),
            },
            Some(quoted) => {
                let end = closing(quoted).ok_or("a cell with quotes does not end")?;
                let left = quoted[end + 1..].trim_start();
                let left = match left.strip_prefix(',') {
                    None if left.is_empty() => None,
                    None => return Err("text follows the closing quotes of a cell".into()),
                    left => left,
                };
                out.push(quoted[..end].replace("\"\"", "\"").trim().to_string());
                rest = left;
                continue;
            }
        };
        if cell.contains('"') {
            return Err("quotes inside of a cell".into());
        }
        out.push(cell.trim().to_string());
        rest = left;
    }
    Ok(out)
}

/// Where the quotes are that close a cell: two in a row stand for one inside of it. What follows is
/// not looked at, as lines may have many cells.
fn closing(quoted: &str) -> Option<usize> {
    let mut at = 0;
    loop {
        at += quoted[at..].find('"')?;
        if !quoted[at + 1..].starts_with('"') {
            return Some(at);
        }
        at += 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_with_quotes() {
        let found = |line: &str| cells(line).map(|cells| cells.join("|"));
        for (line, expected) in [
            ("", ""),
            ("a,b", "a|b"),
            ("\"\"", ""),
            ("\"\",\"\"", "|"),
            ("\"\"\"\"", "\""),
            ("\"a\"\"b\",\"\"\"\"\"\"", "a\"b|\"\""),
            (" \"a,b\" , c ", "a,b|c"),
            ("\"\u{e9}\"\"\u{e9}\",1", "\u{e9}\"\u{e9}|1"),
        ] {
            assert_eq!(found(line), Ok(expected.into()), "{line}");
        }
        for wrong in ["\"", "\"a\"\"", "\"\"\"", "\"a\"b", "a\"b\""] {
            assert!(found(wrong).is_err(), "{wrong}");
        }
        // The time was the square of the length: this took minutes.
        let long = "\"\",".repeat(300_000) + "1";
        assert_eq!(cells(&long).map(|cells| cells.len()), Ok(300_001));
    }
}
