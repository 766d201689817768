// A match on a board of 64 squares: its positions were made when the page was written.
const board = (() => {
  const GLYPHS = { k: "\u265A", q: "\u265B", r: "\u265C", b: "\u265D", n: "\u265E", p: "\u265F" };
  const NAMES = { k: "king", q: "queen", r: "rook", b: "bishop", n: "knight", p: "pawn" };
  const TEXT = "\uFE0E";  // a glyph, and no picture of one

  /* Yield [square, piece] of a position, from a8 to h1; the piece of an empty square is "". */
  function squares(fen) {
    const found = [];
    fen.split("/").forEach((row, at) => {
      let file = 0;
      const put = (piece) => found.push([`${"abcdefgh"[file++]}${8 - at}`, piece]);
      for (const letter of row) {
        if (/\d/.test(letter)) for (let left = Number(letter); left > 0; left--) put("");
        else put(letter);
      }
    });
    return found;
  }

  /* Return a position in words. */
  function described(fen) {
    const side = (white) => Object.entries(NAMES).map(([letter, name]) => {
      const at = squares(fen)
        .filter(([, piece]) => piece === (white ? letter.toUpperCase() : letter))
        .map(([square]) => square);
      return at.length ? `${name}${at.length > 1 ? "s" : ""} ${at.join(" ")}` : "";
    }).filter(Boolean).join(", ");
    return `White: ${side(true)}. Black: ${side(false)}.`;
  }

  /* Return the board of plies with what moves through them; `jump` goes to a heading. */
  return function made(make, plies, ending, jump) {
    let at = 0;
    const field = make("div", { className: "board", role: "img" });
    const cells = squares("8/8/8/8/8/8/8/8").map(([square]) => {
      const dark = ("abcdefgh".indexOf(square[0]) + Number(square[1])) % 2 === 1;
      const cell = make("span", { className: dark ? "dark" : "light" });
      if (square[0] === "a") cell.dataset.rank = square[1];
      if (square[1] === "1") cell.dataset.file = square[0];
      field.append(cell);
      return cell;
    });
    const said = make("p", { className: "said", role: "status" });
    const go = (name, text, to) =>
      make("button", { type: "button", ariaLabel: name, title: name, onclick: () => show(to()) }, text);
    const first = go("First position", "\u00AB", () => 0);
    const before = go("Previous move", "\u25C0\uFE0E", () => at - 1);
    const after = go("Next move", "\u25B6\uFE0E", () => at + 1);
    const last = go("Last position", "\u00BB", () => plies.length - 1);
    const slider = make("input", {
      type: "range", min: "0", max: String(plies.length - 1), value: "0", ariaLabel: "Move",
      oninput: () => show(Number(slider.value)),
    });
    const reply = make("button", {
      type: "button", onclick: () => jump(plies[at].turn),
    }, "Its reply");
    const moves = make("ol", { className: "moves", ariaLabel: "Moves" }, ...plies.map((ply, number) =>
      make("li", {}, make("button", { type: "button", onclick: () => show(number) }, ply.said))));
    const root = make("div", { className: "match" },
      make("div", {}, field, make("div", { className: "moving" }, first, before, slider, after, last),
        said, reply, make("p", { className: "ending" }, ending)),
      moves);

    function show(number, scroll = true) {
      at = Math.max(0, Math.min(plies.length - 1, number));
      const ply = plies[at];
      squares(ply.fen).forEach(([square, piece], place) => {
        const cell = cells[place];
        const white = piece !== "" && piece === piece.toUpperCase();
        cell.textContent = piece === "" ? "" : GLYPHS[piece.toLowerCase()] + TEXT;
        cell.classList.toggle("white", white);
        cell.classList.toggle("black", piece !== "" && !white);
        cell.classList.toggle("last", ply.squares.includes(square));
      });
      const words = ply.by ? `${ply.said}, by ${ply.by}` : ply.said;
      field.setAttribute("aria-label", `Board after ${words}. ${described(ply.fen)}`);
      said.textContent = `${at} of ${plies.length - 1}: ${words}`;
      slider.value = String(at);
      slider.setAttribute("aria-valuetext", words);
      first.disabled = before.disabled = at === 0;
      after.disabled = last.disabled = at === plies.length - 1;
      reply.hidden = ply.turn === null;
      [...moves.children].forEach((move, place) => {
        if (place === at) move.firstChild.setAttribute("aria-current", "step");
        else move.firstChild.removeAttribute("aria-current");
      });
      if (scroll) {
        const move = moves.children[at];
        moves.scrollTop = move.offsetTop - moves.offsetTop - moves.clientHeight / 2;
      }
    }

    show(0, false);
    return { root, step: (by) => show(at + by) };
  };
})();
