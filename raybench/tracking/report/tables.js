// Tables: a click on a head sorts by that column, the other way round, and as it was.
// Long ones have a box that leaves only the rows which hold a text.
"use strict";
(() => {
  const LONG = 15;
  const compare = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" }).compare;

  /* The number that a cell shows first, as "0.73 [0.6, 0.8]" does; NaN where it shows none. */
  function number(cell) {
    if (cell.dataset.value !== undefined) return Number(cell.dataset.value);
    const text = cell.textContent.replace(/,(?=\d{3})/g, "").replace(/\u2212/g, "-").trim();
    const found = /^([<>≤≥]?)\s*([-+±]?)(\d+(?:\.\d+)?)/.exec(text);
    if (!found) return NaN;
    const value = Number(found[3]) * (found[2] === "-" ? -1 : 1);
    const below = found[1] === "<" || found[1] === "≤";
    return below ? value - 1e-12 : found[1] ? value + 1e-12 : value;
  }

  function sortable(table) {
    const heads = [...table.tHead.rows[0].cells];
    const body = table.tBodies[0];
    const given = [...body.rows];
    let [by, down] = [-1, false];

    function sort(place) {
      const numeric = heads[place].classList.contains("number");
      // Numbers are looked at for the greatest, names for the first.
      if (by !== place) [by, down] = [place, first(place)];
      else if (down === first(place)) down = !down;
      else by = -1;
      const key = (row) => (numeric ? number(row.cells[place]) : row.cells[place].textContent.trim());
      const rows = by < 0 ? given : given.map((row) => [key(row), row]).sort(([a], [b]) => {
        const [none, other] = [a, b].map((it) => (numeric ? Number.isNaN(it) : it === "" || it === "—"));
        if (none || other) return none - other;  // what there is not stands last either way
        return (numeric ? a - b : compare(a, b)) * (down ? -1 : 1);
      }).map(([, row]) => row);
      body.append(...rows);
      heads.forEach((head, at) => {
        if (at === by) head.setAttribute("aria-sort", down ? "descending" : "ascending");
        else head.removeAttribute("aria-sort");
      });
    }

    function first(place) {
      const head = heads[place];
      return head.classList.contains("number") && head.textContent.trim() !== "#";
    }

    heads.forEach((head, place) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sorts";
      button.append(...head.childNodes);
      if (head.title) button.title = head.title;
      head.append(button);
      button.addEventListener("click", () => sort(place));
    });
    if (given.length > LONG) filtered(table, given);
  }

  function filtered(table, rows) {
    const label = document.createElement("label");
    label.className = "filter";
    const box = document.createElement("input");
    box.type = "search";
    const told = document.createElement("span");
    told.setAttribute("role", "status");
    label.append(`Show of ${rows.length.toLocaleString("en")} rows those with `, box);
    const line = document.createElement("p");
    line.className = "note filter-line";
    line.append(label, " ", told);
    table.closest(".wide").before(line);
    box.addEventListener("input", () => {
      const wanted = box.value.trim().toLowerCase();
      let shown = 0;
      for (const row of rows) {
        row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
        shown += !row.hidden;
      }
      told.textContent = wanted === "" ? "" : `${shown.toLocaleString("en")} shown`;
    });
  }

  for (const table of document.querySelectorAll("main .wide > table")) {
    if (table.tBodies[0] && table.tBodies[0].rows.length > 1) sortable(table);
  }
})();
