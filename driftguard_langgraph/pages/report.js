
"use strict";
// Recorded text is only ever set as text: nothing here reads it as markup.
(() => {
  const byId = (id) => document.getElementById(id);

  const made = (tag, properties = {}, ...children) => {
    const element = Object.assign(document.createElement(tag), properties);
    element.append(...children);
    return element;
  };

  const choice = (label, options, onChange) => {
    const select = made("select", {}, ...options.map(([value, text]) => made("option", { value }, text)));
    select.value = options[0][0];
    select.addEventListener("change", () => onChange(select.value));
    return made("label", {}, label, select);
  };

  const marked = (text, words) => {
    const lower = text.toLowerCase();
    // Where small letters are longer than capitals, places in the two would not agree.
    if (!words.length || lower.length !== text.length) return [text];
    const parts = [];
    let at = 0;
    while (at < text.length) {
      let next = -1, length = 0;
      for (const word of words) {
        const found = lower.indexOf(word, at);
        if (found >= 0 && (next < 0 || found < next || (found === next && word.length > length))) {
          next = found;
          length = word.length;
        }
      }
      if (next < 0) break;
      parts.push(text.slice(at, next), made("mark", {}, text.slice(next, next + length)));
      at = next + length;
    }
    parts.push(text.slice(at));
    return parts;
  };

  const orders = {
    rank: (a, b) => a.dataset.rank - b.dataset.rank,
    confidence: (a, b) => b.dataset.confidence - a.dataset.confidence || a.dataset.rank - b.dataset.rank,
    seen: (a, b) => (a.dataset.seen < b.dataset.seen) - (a.dataset.seen > b.dataset.seen),
  };
  for (const list of document.querySelectorAll(".sortable")) {
    if (list.children.length < 2) continue;
    const options = [["rank", "Most often"], ["confidence", "Most trusted"], ["seen", "Newest"]];
    const sort = choice("Order", options, (name) => list.append(...[...list.children].sort(orders[name])));
    list.before(made("div", { className: "tools" }, sort));
  }

  const block = byId("data");
  if (!block) return;
  const { page, rows, texts } = JSON.parse(block.textContent);
  const lower = texts.map((text) => text.toLowerCase());
  const table = byId("listed");
  const labels = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  const body = table.tBodies[0];
  const state = { words: [], kind: "all", oldest: false, leaf: 0, found: rows };

  const cell = (label, ...children) => {
    const made_ = made("td", {}, ...children);
    made_.setAttribute("role", "cell");
    made_.dataset.label = label;
    return made_;
  };

  const row = ([at, worked, ...places]) => {
    const time = made("time", { dateTime: at }, `${at.slice(0, 10)} ${at.slice(11, 16)} UTC`);
    const result = made("span", { className: worked ? "badge good" : "badge bad" }, worked ? "worked" : "failed");
    const said = places.map((place, number) =>
      cell(labels[number + 2], made("bdi", {}, ...marked(texts[place], state.words))));
    const line = made("tr", {}, cell(labels[0], time), cell(labels[1], result), ...said);
    line.setAttribute("role", "row");
    return line;
  };

  const before = made("button", { type: "button" }, "Earlier page");
  const after = made("button", { type: "button" }, "Later page");
  const where = made("span");

  const show = () => {
    const { found, leaf } = state;
    const last = Math.max(0, Math.ceil(found.length / page) - 1);
    body.replaceChildren(...found.slice(leaf * page, (leaf + 1) * page).map(row));
    where.textContent = `Page ${leaf + 1} of ${last + 1}`;
    before.disabled = leaf === 0;
    after.disabled = leaf === last;
    byId("leaves").hidden = last === 0;
  };

  const find = () => {
    const holds = ([, , ...places], word) => places.some((place) => lower[place].includes(word));
    const wanted = { all: null, failed: 0, worked: 1 }[state.kind];
    const found = rows.filter((each) =>
      (wanted === null || each[1] === wanted) && state.words.every((word) => holds(each, word)));
    state.found = state.oldest ? found.reverse() : found;
    state.leaf = 0;
    const count = found.length.toLocaleString("en");
    byId("found").textContent = `${count} of ${rows.length.toLocaleString("en")} episodes`;
    show();
  };

  const turn = (step) => {
    state.leaf += step;
    show();
    byId("found").textContent = where.textContent;
    table.scrollIntoView({ block: "start" });
  };
  before.addEventListener("click", () => turn(-1));
  after.addEventListener("click", () => turn(1));
  byId("leaves").append(before, where, after);

  const input = made("input", { type: "search", id: "query", autocomplete: "off", spellcheck: false });
  let waiting;
  input.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      state.words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      find();
    }, 120);
  });
  const kinds = [["all", "All"], ["failed", "Failed"], ["worked", "Worked"]];
  const ages = [["new", "Newest first"], ["old", "Oldest first"]];
  byId("search").append(
    made("label", { className: "wide" }, "Search the episodes (every word must occur)", input),
    choice("Result", kinds, (kind) => { state.kind = kind; find(); }),
    choice("Order", ages, (age) => { state.oldest = age === "old"; find(); }),
  );
  byId("search").className = "tools";
  byId("search").hidden = false;
  byId("unscripted").remove();
  find();
})();
