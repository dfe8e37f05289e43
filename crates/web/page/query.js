// Queries in SQL from the choices of a form.

// Words that are no names of columns unless they are quoted.
const WORDS =
  "all and any as asc between by case cast cross current_date desc distinct else end except " +
  "exists false fetch from full group having in inner intersect into is join left like limit " +
  "natural not null offset on or order outer right select set some table then to true union " +
  "unique using values when where window with";
const RESERVED = new Set(WORDS.split(" "));

const isPlain = (name) => /^[a-z_][a-z0-9_]*$/.test(name) && !RESERVED.has(name);
const identifier = (name) => (isPlain(name) ? name : `"${name.replaceAll('"', '""')}"`);
/** A column as it is shown: one that is quoted is called as it is. */
const shownAs = (name) => (isPlain(name) ? name : `${identifier(name)} as ${identifier(name)}`);
const text = (value) => `'${value.replaceAll("'", "''")}'`;

/** The comparisons that a column of a type supports. */
export function operators(type) {
  const equal = [
    ["=", "is"],
    ["<>", "is not"],
  ];
  if (type === "category" || type === "boolean") return equal;
  const order =
    type === "date" || type === "timestamp"
      ? [
          ["<", "before"],
          ["<=", "until"],
          [">", "after"],
          [">=", "since"],
        ]
      : [
          ["<", "less than"],
          ["<=", "at most"],
          [">", "more than"],
          [">=", "at least"],
        ];
  return [...equal, ...order];
}

const TIME = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}(:\d{2})?)?$/;

/** A value as it stands in a query; null for one that cannot. */
export function literal(column, value) {
  const trimmed = value.trim();
  switch (column.type) {
    case "category":
      return text(trimmed);
    case "boolean":
      return /^(true|false)$/i.test(trimmed) ? trimmed.toLowerCase() : null;
    case "date":
      return /^\d{4}-\d{2}-\d{2}$/.test(trimmed) ? `date ${text(trimmed)}` : null;
    case "timestamp":
      if (!TIME.test(trimmed)) return null;
      return `${column.utc ? "timestamptz" : "timestamp"} ${text(trimmed)}`;
    default:
      return /^-?\d+(\.\d+)?$/.test(trimmed) ? trimmed : null;
  }
}

/** The name of the constant that a hidden value has in a query. */
export const HIDDEN = "value";

/**
 * The query of a form: `{measure, of, group, where: {column, operator, value, hidden}}`;
 * null while a value is missing.
 */
export function sqlOf({ measure, of, group, where }) {
  const shown = [];
  if (group) shown.push(shownAs(group.name));
  shown.push("count(*) as rows");
  if (measure !== "count" && of) {
    shown.push(`${measure}(${identifier(of.name)}) as ${identifier(`${measure} of ${of.name}`)}`);
  }
  let sql = `select ${shown.join(", ")} from t`;
  if (where) {
    const value = where.hidden ? `:${HIDDEN}` : literal(where.column, where.value);
    if (value === null) return null;
    sql += ` where ${identifier(where.column.name)} ${where.operator} ${value}`;
  }
  // By its place: another column of the answer may have its name.
  if (group) sql += ` group by ${identifier(group.name)} order by 1`;
  return sql;
}
