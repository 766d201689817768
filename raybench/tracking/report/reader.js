// The reader: a list of all units, filtered, searched and sorted; one of them open, by its address.
// All that models wrote becomes the text of a node, never markup.
(() => {
  const ROWS = 50;
  const MOST_OPTIONS = 400;
  const KEPT = 6;
  const NAME = 26;
  const FOLDED = 1;
  const REPLY = 2;
  const root = document.getElementById("reader");
  const compare = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" }).compare;
  const shown = (count) => count.toLocaleString("en");

  /* Return an element with properties and children, which may be texts. */
  function make(tag, of, ...children) {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(of)) {
      if (name === "role") element.setAttribute(name, value);
      else element[name] = value;
    }
    element.append(...children);
    return element;
  }

  /* Return what a block of the page holds. */
  async function unpacked(id) {
    const whole = new Promise((done) => {
      if (document.readyState !== "loading") done();
      else document.addEventListener("DOMContentLoaded", () => done());
    });
    if (!document.getElementById(id)?.nextSibling) await whole;  // it is still being read
    const letters = document.getElementById(id).textContent;
    const bytes = Uint8Array.fromBase64
      ? Uint8Array.fromBase64(letters)
      : Uint8Array.from(atob(letters), (letter) => letter.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return JSON.parse(await new Response(stream).text());
  }

  function failed(why) {
    root.hidden = false;
    root.replaceChildren(make("p", { className: "alarm", role: "note" }, why));
  }

  async function begun() {
    if (typeof DecompressionStream === "undefined") {
      failed("This browser cannot unpack them: one of 2023 or later can.");
      return;
    }
    reader(await unpacked("index"));
  }

  function reader(list) {
    const count = list.keys.length;
    const facets = list.facets.map((facet) => ({
      ...facet,
      codes: facet.number ? null : Int32Array.from(facet.codes),
      labels: facet.number ? null : facet.values.map((value) => value.join(", ") || "\u2014"),
      options: facet.number ? [] : [...new Set(facet.values.flat())].sort(compare),
    }));
    const chosenBy = facets.filter((it) => !it.number && it.options.length > 1 && it.options.length <= MOST_OPTIONS);
    const columns = facets.filter((it) => it.shown && (it.number || it.options.length > 1));
    const byKey = new Map(list.keys.map((key, place) => [key, place]));
    const sizes = new Int32Array(list.groups.length);
    for (const group of list.grouped) sizes[group] += 1;
    const empty = () => ({ where: {}, q: "", sort: "", down: false, page: 0, group: "", unit: "", beside: false });
    let state = empty();
    let found = new Int32Array(0);
    let inTexts = null;  // the units whose texts hold what is searched for, once they were looked at
    let lowered = null;
    let open = null;  // what is open: its board, and whether it is still wanted
    const ranks = new Map();
    const chunks = new Map();

    // ------------------------------------------------------------------ addresses

    const OWN = ["unit", "q", "sort", "page", "group", "view"];

    function address(of) {
      const told = new URLSearchParams();
      if (of.unit) told.set("unit", of.unit);
      if (of.unit && of.beside) told.set("view", "beside");
      if (of.q) told.set("q", of.q);
      for (const [name, value] of Object.entries(of.where)) told.set(name, value);
      if (of.group) told.set("group", of.group);
      if (of.sort) told.set("sort", (of.down ? "-" : "") + of.sort);
      if (of.page) told.set("page", String(of.page + 1));
      return `#${told.toString() || "units"}`;
    }

    function read(hash) {
      const told = new URLSearchParams(hash.slice(1));
      const of = empty();
      of.unit = told.get("unit") ?? "";
      of.beside = told.get("view") === "beside";
      of.q = told.get("q") ?? "";
      of.group = told.get("group") ?? "";
      of.page = Math.max(0, (parseInt(told.get("page") ?? "1", 10) || 1) - 1);
      const sort = told.get("sort") ?? "";
      of.down = sort.startsWith("-");
      of.sort = sort.replace(/^-/, "");
      for (const [name, value] of told) {
        if (!OWN.includes(name) && chosenBy.some((it) => it.name === name)) of.where[name] = value;
      }
      return of;
    }

    function go(change, { push = false } = {}) {
      const turned = "page" in change || "unit" in change || "beside" in change;
      state = { ...state, ...(turned ? {} : { page: 0 }), ...("unit" in change ? { beside: false } : {}), ...change };
      if (push) history.pushState(null, "", address(state));
      else history.replaceState(null, "", address(state));
      refresh();
    }

    // ------------------------------------------------------------------ what is shown

    /* Return the units that pass all filters, and of each facet how many have each option. */
    function filtered() {
      const words = state.q.trim().toLowerCase().split(/\s+/).filter(Boolean);
      if (words.length && !lowered) lowered = list.summaries.map((it) => it.toLowerCase());
      const spoken = words.map((word) => facets.filter((it) => !it.number).map((facet) => ({
        codes: facet.codes,
        hit: Uint8Array.from(facet.labels, (it) => it.toLowerCase().includes(word)),
      })));
      const says = (unit) => inTexts?.units.has(unit) || words.every((word, at) =>
        lowered[unit].includes(word) || list.keys[unit].includes(word)
        || spoken[at].some(({ codes, hit }) => hit[codes[unit]]));
      const passes = chosenBy.map((facet) => {
        const wanted = state.where[facet.name];
        return wanted === undefined ? null
          : Uint8Array.from(facet.values, (value) => value.includes(wanted));
      });
      const tallies = chosenBy.map((facet) => new Int32Array(facet.values.length));
      const group = state.group === "" ? -1 : list.groups.indexOf(state.group);
      const passed = [];
      for (let unit = 0; unit < count; unit++) {
        if (state.group !== "" && list.grouped[unit] !== group) continue;
        let failing = -1;
        let times = 0;
        for (let at = 0; at < chosenBy.length && times < 2; at++) {
          if (passes[at] && !passes[at][chosenBy[at].codes[unit]]) { failing = at; times += 1; }
        }
        if (times > 1 || (words.length && !says(unit))) continue;
        if (times === 0) {
          passed.push(unit);
          for (let at = 0; at < chosenBy.length; at++) tallies[at][chosenBy[at].codes[unit]] += 1;
        } else tallies[failing][chosenBy[failing].codes[unit]] += 1;
      }
      const counts = chosenBy.map((facet, at) => {
        const by = new Map(facet.options.map((option) => [option, 0]));
        facet.values.forEach((value, code) => {
          for (const option of new Set(value)) by.set(option, by.get(option) + tallies[at][code]);
        });
        return by;
      });
      return [Int32Array.from(passed), counts];
    }

    /* Return of each unit where it stands by a column; NaN where it has nothing there. */
    function rank(name) {
      if (ranks.has(name)) return ranks.get(name);
      const facet = facets.find((it) => it.name === name);
      let by;
      if (!facet) {
        const order = list.summaries.map((_, unit) => unit)
          .sort((a, b) => (list.summaries[a] < list.summaries[b] ? -1 : 1));
        by = new Float64Array(count);
        order.forEach((unit, place) => { by[unit] = place; });
      } else if (facet.number) by = Float64Array.from(facet.values, (it) => it ?? NaN);
      else {
        const order = facet.labels.map((_, code) => code)
          .sort((a, b) => compare(facet.labels[a], facet.labels[b]));
        const places = new Float64Array(order.length);
        order.forEach((code, place) => { places[code] = facet.values[code].length ? place : NaN; });
        by = Float64Array.from(facet.codes, (code) => places[code]);
      }
      ranks.set(name, by);
      return by;
    }

    function sorted(units) {
      if (!state.sort) return units;
      const by = rank(state.sort);
      const sign = state.down ? -1 : 1;
      return units.sort((a, b) => {
        const [none, other] = [Number.isNaN(by[a]), Number.isNaN(by[b])];
        if (none || other) return none - other || a - b;
        return sign * (by[a] - by[b]) || a - b;
      });
    }

    // ------------------------------------------------------------------ the list

    const box = make("input", { type: "search", id: "reader-search", oninput: () => {
      clearTimeout(box.waiting);
      box.waiting = setTimeout(() => { inTexts = null; go({ q: box.value }); }, 150);
    } });
    const deeper = make("button", { type: "button", onclick: () => searchTexts() }, "Search the texts, too");
    const selects = chosenBy.map((facet) => make("select", {
      onchange: (event) => {
        const where = { ...state.where };
        if (event.target.value === "") delete where[facet.name];
        else where[facet.name] = facet.options[Number(event.target.value)];
        go({ where });
      },
    }, make("option", { value: "" }, "all"), ...facet.options.map((option, at) =>
      make("option", { value: String(at) }, option))));
    const status = make("span", { role: "status" });
    const reset = make("button", { type: "button", onclick: () => {
      inTexts = null;
      go({ ...empty(), unit: state.unit });
    } }, "Show all");
    const group = make("button", { type: "button", className: "chip", onclick: () => go({ group: "" }) });
    const heads = [...columns.map((it) => it.name), ""].map((name) => {
      const number = facets.find((it) => it.name === name)?.number;
      const button = make("button", { type: "button", className: "sorts", onclick: () => {
        const key = name || "summary";
        const first = Boolean(number);
        if (state.sort !== key) go({ sort: key, down: first });
        else if (state.down === first) go({ sort: key, down: !first });
        else go({ sort: "", down: false });
      } }, name || list.name);
      return make("th", { scope: "col", className: number ? "number" : "" }, button);
    });
    // Where there is no room for heads, this sorts.
    const orders = [...columns, { name: "", number: false }].flatMap(({ name, number }) => [number, !number].map((down) => ({
      key: (down ? "-" : "") + (name || "summary"), text: `${name || list.name} ${down ? "\u2193" : "\u2191"}` })));
    const sorter = make("select", { onchange: () => {
      go({ sort: sorter.value.replace(/^-/, ""), down: sorter.value.startsWith("-") });
    } }, make("option", { value: "" }, "as given"), ...orders.map(({ key, text }) => make("option", { value: key }, text)));
    const body = make("tbody", {});
    const table = make("table", { className: "units" },
      make("caption", { className: "unseen" }, `${list.names}, one a row`),
      make("thead", {}, make("tr", {}, ...heads)), body);
    const turn = (text, name, to) => make("button", { type: "button", ariaLabel: name, onclick: () => go({ page: to() }) }, text);
    const pages = () => Math.max(1, Math.ceil(found.length / ROWS));
    const back = turn("\u2039", "Page before", () => state.page - 1);
    const on = turn("\u203A", "Next page", () => state.page + 1);
    const start = turn("\u00AB", "First page", () => 0);
    const end = turn("\u00BB", "Last page", () => pages() - 1);
    const place = make("span", {});
    const pager = make("p", { className: "pager" }, start, back, place, on, end);
    const listed = make("div", { className: "listed", tabIndex: 0, role: "region", ariaLabel: `All ${list.names}` }, table);

    root.replaceChildren(make("div", { className: "finding" },
      make("div", { className: "tools", role: "search", ariaLabel: `Find ${list.names}` },
        make("label", { className: "searched" }, "search", box),
        ...chosenBy.map((facet, at) => make("label", {}, facet.name, selects[at])),
        make("label", { className: "sorter" }, "sorted by", sorter)),
      make("p", { className: "told" }, status, " ", group, reset, deeper),
      listed, pager));

    /* A name without its middle where it is long: checkpoints differ in their ends. */
    function short(name) {
      const letters = Array.from(name);
      return letters.length <= NAME ? name : [...letters.slice(0, NAME / 2 - 1), "\u2026", ...letters.slice(-NAME / 2)].join("");
    }

    function row(unit) {
      const link = make("a", { href: address({ ...state, unit: list.keys[unit], beside: false }) }, list.summaries[unit]);
      if (list.keys[unit] === state.unit) link.setAttribute("aria-current", "true");
      const cells = columns.map((facet) => {
        const value = facet.number ? facet.values[unit] : facet.labels[facet.codes[unit]];
        const text = value === null || value === undefined ? "\u2014"
          : facet.number ? value.toLocaleString("en", { maximumFractionDigits: 3 }) : value;
        const cell = facet.number ? make("td", { className: "number" }, text)
          : make("td", { title: text.length > NAME ? text : "" }, text.split(", ").map(short).join(", "));
        cell.dataset.name = facet.name;
        if (facet.name === "outcome") cell.classList.add(`is-${text.replace(/\W+/g, "-")}`);
        return cell;
      });
      return make("tr", { onclick: (event) => {
        if (event.target.closest("a") === null && getSelection().isCollapsed) link.click();
      } }, ...cells, make("td", { className: "line" }, link));
    }

    function refresh() {
      const [units, counts] = filtered();
      found = sorted(units);
      state.page = Math.min(state.page, pages() - 1);
      const from = state.page * ROWS;
      body.replaceChildren(...Array.from(found.subarray(from, from + ROWS), row));
      chosenBy.forEach((facet, at) => {
        facet.options.forEach((option, number) => {
          const element = selects[at].options[number + 1];
          const times = counts[at].get(option);
          element.textContent = `${option} (${shown(times)})`;
          element.disabled = times === 0 && state.where[facet.name] !== option;
        });
        selects[at].value = facet.name in state.where ? String(facet.options.indexOf(state.where[facet.name])) : "";
      });
      heads.forEach((head, at) => {
        if ((columns[at]?.name ?? "summary") === state.sort) head.setAttribute("aria-sort", state.down ? "descending" : "ascending");
        else head.removeAttribute("aria-sort");
      });
      sorter.value = state.sort ? (state.down ? "-" : "") + state.sort : "";
      if (document.activeElement !== box) box.value = state.q;
      const told = `${shown(found.length)} of ${shown(count)} ${count === 1 ? list.name : list.names}`;
      const unknown = chosenBy.filter((facet) => facet.name in state.where && !facet.options.includes(state.where[facet.name]))
        .map((facet) => `No ${list.name} has the ${facet.name} '${state.where[facet.name]}'.`);
      status.textContent = [inTexts ? `${told}. ${inTexts.told}` : told, ...unknown].join(unknown.length ? ". " : "");
      const all = found.length === count && !state.q && !state.sort;
      reset.hidden = all;
      group.hidden = state.group === "";
      group.textContent = `same ${list.group} \u00D7`;
      group.setAttribute("aria-label", `No longer those of the same ${list.group} alone`);
      deeper.hidden = state.q.trim() === "" || inTexts !== null;
      place.textContent = `page ${shown(state.page + 1)} of ${shown(pages())}`;
      start.disabled = back.disabled = state.page === 0;
      on.disabled = end.disabled = state.page === pages() - 1;
      pager.hidden = pages() === 1;
      show();
    }

    listed.addEventListener("keydown", (event) => {
      const links = [...body.querySelectorAll("a")];
      const at = links.indexOf(document.activeElement);
      const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (!step || !links.length) return;
      event.preventDefault();
      if (at < 0) links[step > 0 ? 0 : links.length - 1].focus();
      else if (links[at + step]) links[at + step].focus();
      else if (step > 0 && state.page < pages() - 1) {
        go({ page: state.page + 1 });
        body.querySelector("a").focus();
      } else if (step < 0 && state.page > 0) {
        go({ page: state.page - 1 });
        [...body.querySelectorAll("a")].pop().focus();
      }
    });

    // ------------------------------------------------------------------ texts

    async function chunk(number) {
      if (!chunks.has(number)) {
        chunks.set(number, unpacked(`chunk-${number}`));
        if (chunks.size > KEPT) chunks.delete(chunks.keys().next().value);
      }
      return chunks.get(number);
    }

    async function bodyOf(unit) {
      const of = await chunk(list.chunks[unit]);
      return laid(of, of.bodies[list.places[unit]]);
    }

    function laid({ texts }, { texts: told, plies, ending }) {
      return {
        texts: told.map(([label, text, heading, flags]) =>
          ({ label: texts[label], text: texts[text], heading: texts[heading], flags })),
        plies: plies.map(([fen, said, by, squares, at]) =>
          ({ fen: texts[fen], said, by: texts[by], squares, turn: at })),
        ending,
      };
    }

    /* Look for what is searched in the texts as well, a chunk at a time. */
    async function searchTexts() {
      const wanted = state.q.trim().toLowerCase();
      const by = new Map();
      let without = 0;
      list.chunks.forEach((number, unit) => {
        if (number < 0) without += 1;
        else if (by.has(number)) by.get(number).push(unit);
        else by.set(number, [unit]);
      });
      const hits = new Set();
      let done = 0;
      for (const [number, units] of by) {
        if (state.q.trim().toLowerCase() !== wanted) return;
        const of = await unpacked(`chunk-${number}`);
        const holds = of.texts.map((text) => text.toLowerCase().includes(wanted));
        for (const unit of units) {
          if (of.bodies[list.places[unit]].texts.some(([, text]) => holds[text])) hits.add(unit);
        }
        done += 1;
        status.textContent = `Searching: ${Math.round((100 * done) / by.size)} %`;
        if (done % 4 === 0) await new Promise((next) => { setTimeout(next); });
      }
      if (state.q.trim().toLowerCase() !== wanted) return;
      inTexts = {
        units: hits,
        told: `In the texts, too${without ? `, but for ${shown(without)} that are not in this page` : ""}.`,
      };
      go({ page: 0 });
    }

    // ------------------------------------------------------------------ one unit

    const title = make("h3", { id: "unit-title", tabIndex: -1 });
    const facts = make("dl", { className: "facts" });
    const texts = make("div", { className: "texts" });
    const before = make("button", { type: "button", onclick: () => step(-1) }, "\u2039 Previous");
    const after = make("button", { type: "button", onclick: () => step(1) }, "Next \u203A");
    const same = make("button", { type: "button", onclick: () => {
      inTexts = null;
      go({ ...empty(), unit: state.unit, group: list.groups[list.grouped[byKey.get(state.unit)]] });
    } });
    const beside = make("button", { type: "button", onclick: () => go({ beside: !state.beside }, { push: true }) });
    const shut = make("button", { type: "button", className: "shut", ariaLabel: "Close", onclick: () => close() }, "\u00D7");
    const panel = make("div", { className: "unit", role: "dialog", hidden: true },
      make("div", { className: "bar" }, before, after, same, beside, shut),
      make("div", { className: "inside" }, title, facts, texts));
    panel.setAttribute("aria-labelledby", "unit-title");
    root.append(panel);

    function step(by) {
      const at = found.indexOf(byKey.get(state.unit));
      const next = at < 0 ? found[0] : found[at + by];
      if (next === undefined) return;
      go({ unit: list.keys[next], page: Math.floor(found.indexOf(next) / ROWS) });
    }

    function close() {
      const key = state.unit;
      go({ unit: "" }, { push: true });
      const link = [...body.querySelectorAll("a")].find((it) => read(it.hash).unit === key);
      (link ?? listed).focus();
    }

    /* Show or hide the panel; what stands beside it gets narrower, and stays where it was. */
    function reveal(shown) {
      if (panel.hidden !== shown) return;
      const anchor = body.querySelector("[aria-current]") ?? listed;
      const before = anchor.getBoundingClientRect().top;
      panel.hidden = !shown;
      document.body.classList.toggle("reading", shown);
      scrollBy({ top: anchor.getBoundingClientRect().top - before, behavior: "instant" });
    }

    function show() {
      if (!state.unit) {
        open = null;
        reveal(false);
        return;
      }
      const unit = byKey.get(state.unit);
      const at = unit === undefined ? -1 : found.indexOf(unit);
      before.disabled = at <= 0;
      after.disabled = at < 0 ? !found.length : at === found.length - 1;
      if (open?.key === state.unit && open.beside === state.beside) return;
      const mine = { key: state.unit, beside: state.beside, board: null };
      open = mine;
      reveal(true);
      panel.classList.toggle("broad", state.beside);
      facts.replaceChildren();
      texts.replaceChildren();
      same.hidden = beside.hidden = true;
      if (unit === undefined) {
        title.textContent = `There is no '${state.unit}' in this page`;
        texts.append(make("p", {}, list.count > count
          ? `It may be one of those that the list leaves out: ${list.journal} has all.`
          : "The link is of another run, or was changed."));
      } else {
        const group = list.groups[list.grouped[unit]];
        title.textContent = list.summaries[unit];
        for (const facet of facets) {
          const value = facet.number ? facet.values[unit] : facet.labels[facet.codes[unit]];
          if (value !== null && value !== "\u2014") {
            facts.append(make("div", {}, make("dt", {}, facet.name),
              make("dd", {}, facet.number ? value.toLocaleString("en", { maximumFractionDigits: 3 }) : value)));
          }
        }
        const many = group === "" ? 1 : sizes[list.grouped[unit]];
        same.hidden = beside.hidden = many < 2;
        same.textContent = `Same ${list.group} (${many < 2 ? "" : told(unit)})`;
        beside.textContent = state.beside ? "This one alone" : "Side by side";
        if (state.beside && many > 1) sideBySide(unit, mine);
        else fill(unit, mine);
      }
      panel.scrollTop = 0;
      title.focus({ preventScroll: true });
    }

    /* Return the units of the group that a unit is of. */
    function grouped(unit) {
      const found = [];
      for (let other = 0; other < count; other++) if (list.grouped[other] === list.grouped[unit]) found.push(other);
      return found;
    }

    /* Return how many there are of a group: where models were asked again, models times repeats. */
    function told(unit) {
      const units = grouped(unit);
      const [models, repeats] = ["model", "repeat"].map((name) => {
        const facet = facets.find((it) => it.name === name && !it.number);
        return facet ? new Set(units.map((it) => facet.codes[it])).size : 1;
      });
      if (repeats < 2) return shown(units.length);
      const each = models * repeats === units.length ? "" : "up to ";
      return `${shown(models)} model${models > 1 ? "s" : ""} \u00D7 ${each}${shown(repeats)} repeats`;
    }

    async function fill(unit, mine) {
      if (list.chunks[unit] < 0) {
        texts.replaceChildren(make("p", {}, `Its texts are not in this page: they stand in ${list.journal}, line ${shown(list.lines[unit])}.`));
        beside.hidden = true;
        return;
      }
      texts.replaceChildren(make("p", { role: "status" }, "Opening…"));
      const of = await bodyOf(unit);
      if (open !== mine) return;
      const [parts, headings] = written(of.texts);
      if (of.plies.length) {
        mine.board = board(make, of.plies, of.ending, (at) => {
          headings[at].scrollIntoView({ block: "start" });
          headings[at].focus({ preventScroll: true });
        });
        parts.unshift(mine.board.root);
      }
      parts.push(make("p", { className: "note" }, `${list.journal}, line ${shown(list.lines[unit])}`));
      texts.replaceChildren(...parts);
      if (!of.texts.some((it) => it.flags & REPLY)) beside.hidden = true;
    }

    /* Return texts as elements, and those of their headings. */
    function written(of) {
      const parts = [];
      const headings = [];
      for (const { label, text, heading, flags } of of) {
        if (heading) {
          headings.push(make("h4", { tabIndex: -1 }, heading));
          parts.push(headings.at(-1));
        }
        const shownText = make("pre", { tabIndex: 0, dir: "auto" }, text);
        if (flags & FOLDED) {
          parts.push(make("details", {}, make("summary", {}, `${label} (${shown(text.length)} characters)`), shownText));
        } else parts.push(make(headings.length ? "h5" : "h4", {}, label), shownText);
      }
      return [parts, headings];
    }

    /* Show what every unit of the group replied, each in a column of its own: the open one first. */
    async function sideBySide(unit, mine) {
      texts.replaceChildren(make("p", { role: "status" }, "Opening\u2026"));
      const units = [unit, ...grouped(unit).filter((it) => it !== unit)];
      // By these they are told apart.
      const apart = facets.filter((it) => !it.number && (it.name === "model" || new Set(units.map((at) => it.codes[at])).size > 1)
        && it.name !== "flags" && it.name !== "graded by" && it.name !== "shown for");
      const read = new Map();
      for (const it of units) if (list.chunks[it] >= 0) read.set(it, (await bodyOf(it)).texts);
      if (open !== mine) return;
      const common = [...read.values()].map((of) => new Set(of.map((it) => it.label + it.text)));
      const asked = (read.values().next().value ?? []).filter((it) => !(it.flags & REPLY) && common.every((of) => of.has(it.label + it.text)));
      const columnsOf = units.map((it) => {
        const name = apart.map((facet) => {
          const label = facet.labels[facet.codes[it]];
          return /^[\d\u2014]/.test(label) ? `${facet.name} ${label}` : label;
        }).join(", ") || list.summaries[it];
        const heading = make("h4", {}, it === unit ? make("strong", {}, name)
          : make("button", { type: "button", onclick: () => go({ unit: list.keys[it] }, { push: true }) }, name));
        const told = (read.get(it) ?? [{ label: "", heading: "", text: "not in this page" }]).filter((text) => !read.has(it) || text.flags & REPLY);
        return make("div", {}, heading, ...told.flatMap(({ label, heading: of, text }) => [
          ...(told.length > 1 ? [make("h5", {}, of || label)] : []),
          make("pre", { tabIndex: 0, dir: "auto" }, text)]));
      });
      texts.replaceChildren(...written(asked)[0], make("div", { className: "beside", tabIndex: 0, role: "region", ariaLabel: "Replies, side by side" }, ...columnsOf));
    }

    document.addEventListener("keydown", (event) => {
      if (panel.hidden || event.altKey || event.ctrlKey || event.metaKey) return;
      if (event.key === "Escape") { event.preventDefault(); close(); return; }
      if (!panel.contains(event.target) || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
      const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (!by || (event.target.closest(".beside"))) return;
      event.preventDefault();
      if (open?.board) open.board.step(by);
      else step(by);
    });

    // ------------------------------------------------------------------ begin

    function follow() {
      if (!location.hash.includes("=")) {
        if (state.unit) { state.unit = ""; refresh(); }
        return;
      }
      inTexts = null;
      state = read(location.hash);
      refresh();
    }

    addEventListener("hashchange", follow);
    addEventListener("popstate", follow);
    root.hidden = false;
    state = location.hash.includes("=") ? read(location.hash) : empty();
    refresh();
    if (location.hash.includes("=")) root.parentElement.scrollIntoView();
    root.dataset.ready = String(Math.round(performance.now()));  // tests wait for it
  }

  begun().catch((error) => failed(`They cannot be shown: ${error.message}`));
})();
