"use strict";
(() => {
  const form = document.getElementById("filter");
  if (!form) return;
  const [word, state] = [form.elements.namedItem("word"), form.elements.namedItem("state")];
  const shown = form.querySelector("output");
  const tests = [...document.querySelectorAll("[data-state]")];
  const groups = [...document.querySelectorAll(".group")];
  // A row is named by its head: a test, or a change with its words.
  const name = (test) => (test.querySelector("th") ?? test).textContent.toLowerCase();
  const names = new Map(tests.map((test) => [test, name(test)]));

  const apply = () => {
    const wanted = word.value.trim().toLowerCase();
    const isFiltered = wanted !== "" || state.value !== "";
    let count = 0;
    for (const test of tests) {
      const isState = state.value === "" || test.dataset.state.split(" ").includes(state.value);
      test.hidden = !(isState && names.get(test).includes(wanted));
      if (!test.hidden) count += 1;
    }
    for (const group of groups) {
      const own = [...group.querySelectorAll("[data-state]")];
      const left = own.filter((test) => !test.hidden).length;
      group.hidden = isFiltered && left === 0;
      // Names that were asked for should not be folded away.
      if (isFiltered && left > 0 && left <= 50) {
        for (const folded of group.querySelectorAll("details.members")) folded.open = true;
      }
    }
    shown.textContent = isFiltered ? `${count} of ${tests.length} ${form.dataset.of}` : "";
  };

  const write = () => {
    const wanted = new URLSearchParams();
    if (word.value) wanted.set("filter", word.value);
    if (state.value) wanted.set("state", state.value);
    history.replaceState(null, "", `#${wanted}`);
    apply();
  };

  const clear = () => {
    word.value = "";
    state.value = "";
    apply();
  };

  // The fragment is a filter, or the place that a link leads to.
  const read = () => {
    const fragment = location.hash.slice(1);
    const wanted = new URLSearchParams(fragment);
    if (wanted.has("filter") || wanted.has("state")) {
      word.value = wanted.get("filter") ?? "";
      state.value = wanted.get("state") ?? "";
      apply();
      return form.scrollIntoView();
    }
    const place = document.getElementById(fragment);
    if (!place) return;
    if (place.closest("[hidden]")) clear();
    for (let at = place; at; at = at.parentElement) {
      if (at.tagName === "DETAILS") at.open = true;
    }
    place.scrollIntoView();
  };

  form.hidden = false;
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("input", write);
  form.addEventListener("reset", () => setTimeout(write));
  addEventListener("hashchange", read);
  read();
})();
