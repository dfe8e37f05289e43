(() => {
  const root = document.documentElement;
  root.dataset.errors = "0";
  addEventListener("error", () => { root.dataset.errors = String(+root.dataset.errors + 1); });
  const theme = new URLSearchParams(location.search).get("theme");
  if (theme === "dark" || theme === "light") root.dataset.theme = theme;
  const key = cell => {
    const given = cell.dataset.v, text = cell.textContent.trim();
    return given !== undefined ? +given : text === "" ? null : isNaN(text) ? text : +text;
  };
  const order = (a, b) => a === null || b === null ? (a === null) - (b === null) : typeof a === "number" && typeof b === "number" ? a - b : String(a).localeCompare(String(b), undefined, { numeric: true });
  const sort = (table, head, column) => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    table.querySelectorAll("th[aria-sort]").forEach(other => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const rows = [...table.tBodies[0].rows];
    // Empty cells come last either way.
    rows.sort((a, b) => {
      const [x, y] = [key(a.cells[column]), key(b.cells[column])];
      return order(x, y) * (up || x === null || y === null ? 1 : -1);
    });
    table.tBodies[0].append(...rows);
  };
  // On a phone, a table that is wider than its box becomes a list of cards: cells with labels.
  const narrow = matchMedia("(max-width:640px)");
  const label = table => {
    const [above, below] = table.tHead.rows;
    const inner = below ? [...below.cells] : [];
    const labels = [...above.cells].flatMap(head => {
      const text = head.textContent.trim();
      if (head.colSpan === 1 && (head.rowSpan === 2 || !inner.length)) return [text];
      return inner.splice(0, head.colSpan).map(cell => `${text}, ${cell.textContent.trim()}`);
    });
    [...table.tBodies[0].rows].forEach(row => [...row.cells].forEach((cell, i) => { cell.dataset.label = labels[i]; }));
  };
  const fit = () => document.querySelectorAll(".box > table").forEach(table => {
    const box = table.parentElement;
    delete table.dataset.cards;
    if (narrow.matches && box.scrollWidth > box.clientWidth) table.dataset.cards = "";
  });
  addEventListener("DOMContentLoaded", () => {
    document.querySelectorAll(".box > table").forEach(label);
    fit();
    addEventListener("resize", fit);
    document.querySelectorAll("table").forEach(table => table.querySelectorAll("th[data-column]").forEach(head => {
      const button = document.createElement("button");
      button.append(...head.childNodes);
      head.append(button);
      button.addEventListener("click", () => sort(table, head, +head.dataset.column));
    }));
  });
  // What a browser made of the page, for the test that looks at it.
  addEventListener("load", () => {
    const box = element => { const r = element.getBoundingClientRect(); return r.width > 0 && r.height > 0; };
    const plots = [...document.querySelectorAll("svg.plot")].filter(plot => { const b = plot.getBBox(); return box(plot) && b.width > 0 && b.height > 0; });
    const tables = [...document.querySelectorAll("table")].filter(table => box(table) && table.tBodies[0].rows.length > 0);
    root.dataset.plots = plots.map(plot => plot.parentElement.id).join(" ");
    // The least size of letters in plots, in pixels, and the plots that reach over their edges.
    const size = plot => Math.min(...[...plot.querySelectorAll("text")].map(text => parseFloat(getComputedStyle(text).fontSize))) * plot.getBoundingClientRect().width / plot.viewBox.baseVal.width;
    root.dataset.letters = String(Math.min(...plots.map(size)));
    const beyond = plot => { const [b, v] = [plot.getBBox(), plot.viewBox.baseVal]; return b.x < v.x || b.y < v.y || b.x + b.width > v.x + v.width || b.y + b.height > v.y + v.height; };
    root.dataset.beyond = plots.filter(beyond).map(plot => plot.parentElement.id).join(" ");
    root.dataset.tables = tables.map(table => table.id).join(" ");
    root.dataset.cards = String(document.querySelectorAll("[data-cards]").length);
    const cut = table => table.parentElement.scrollWidth > table.parentElement.clientWidth;
    root.dataset.cut = [...document.querySelectorAll(".box > table")].filter(cut).map(table => table.id).join(" ");
    root.dataset.width = String(innerWidth);
    root.dataset.overflow = String(root.scrollWidth - root.clientWidth);
    root.dataset.ground = getComputedStyle(document.body).backgroundColor;
  });
})();
