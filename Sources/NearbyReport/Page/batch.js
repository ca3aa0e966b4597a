// SPDX-License-Identifier: Apache-2.0
// Draws the page of a batch, or of two that are compared, from the page's #data.
"use strict";
(() => {
  const { palettes, isNumber, text, element, save } = nearbyView;
  const data = JSON.parse(document.getElementById("data").textContent);
  const byId = (id) => document.getElementById(id);
  const [a, b] = data.batches;
  const groups = [...new Set(data.batches.flatMap((batch) => batch.rows.map((row) => row.group)))];
  let theme = nearbyView.prefersDark() ? "dark" : "light";
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colourOf = (group) => palettes[theme][groups.indexOf(group) % palettes.light.length];
  const quantile = (values, share) => {
    const sorted = values.filter(isNumber).sort((x, y) => x - y);
    return sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] : null;
  };
  const error = (row) => row.rmse_second_half;
  const isFound = (row) => isNumber(row.seconds_to_convergence);
  const isWrong = (row) => row.falsely_converged_share > 0;
  const count = (n, word) => `${n.toLocaleString("en").replace(/,/g, " ")} ${word}${n === 1 ? "" : "s"}`;

  // ---- Curves ---------------------------------------------------------------------------------------

  // The share of all rows up to each value; those without one never come.
  function shares(rows, value, isLogarithmic) {
    const sorted = rows.map(value).filter(isNumber).map((x) => (isLogarithmic ? Math.log10(Math.max(x, 1e-3)) : x)).sort((x, y) => x - y);
    return { x: Float64Array.from(sorted), y: Float64Array.from(sorted, (_, i) => (100 * (i + 1)) / rows.length) };
  }
  const powers = [-3, -2, -1, 0, 1, 2, 3].flatMap((power) => [1, 2, 5].map((n) => [Math.log10(n * 10 ** power), String(Number((n * 10 ** power).toPrecision(1)))]));
  const range = (values, pad = 0.05) => {
    const seen = values.filter(isNumber);
    const [low, high] = seen.length ? [seen.reduce((x, y) => Math.min(x, y)), seen.reduce((x, y) => Math.max(x, y))] : [0, 1];
    return [low - pad * Math.max(high - low, 0.1), high + pad * Math.max(high - low, 0.1)];
  };
  const log = (x) => (isNumber(x) && x > 0 ? Math.log10(Math.max(x, 1e-3)) : NaN);

  function distribution(value, label, isLogarithmic) {
    const parts = data.batches.flatMap((batch, which) => groups.map((group) => {
      const rows = batch.rows.filter((row) => row.group === group);
      return { kind: "steps", ...shares(rows, value, isLogarithmic), colour: colourOf(group), dash: which ? [6, 4] : [], name: data.batches.length > 1 ? `${group}, ${batch.name}` : group };
    }));
    const all = parts.flatMap((part) => Array.from(part.x));
    return { x: { label, unit: "", window: range(all), ticks: isLogarithmic ? powers : undefined }, y: { label: "share of peers (%)", unit: "%", range: [0, 102], decimals: 0 }, parts };
  }

  const points = (rows, x, y, colour) => {
    const pairs = rows.map((row) => [log(x(row)), log(y(row))]).filter(([u, v]) => isNumber(u) && isNumber(v)).sort((p, q) => p[0] - q[0]);
    return { kind: "points", x: Float64Array.from(pairs, ([u]) => u), y: Float64Array.from(pairs, ([, v]) => v), colour, alpha: 0.65, radius: 2 };
  };

  const panels = [
    {
      id: "errors", title: "Errors", note: "share of peers whose error (RMSE of the second half) is at most this", needsTruth: true,
      chart: () => distribution(error, "error (m)", true),
    },
    { id: "times", title: "Time to find", note: "share of peers found within this time", chart: () => distribution((row) => row.seconds_to_convergence, "time (s)", false) },
    {
      id: "claims", title: "Claimed and true error", note: "at the end; above the dashed line the error is beyond 3.4 σ", needsTruth: true,
      chart: () => {
        const parts = data.batches.flatMap((batch) => groups.map((group) => points(batch.rows.filter((row) => row.group === group), (row) => row.sigma, (row) => row.final_error, colourOf(group))));
        const [x, y] = [range(parts.flatMap((part) => Array.from(part.x))), range(parts.flatMap((part) => Array.from(part.y)))];
        const line = (shift, dash) => ({ kind: "line", x: Float64Array.from(x), y: Float64Array.from(x, (value) => value + shift), colour: css("--soft"), width: 1.2, dash, isQuiet: true });
        return { x: { label: "claimed σ (m)", window: x, ticks: powers }, y: { label: "true error (m)", range: y, ticks: powers }, parts: [...parts, line(0, []), line(Math.log10(3.4), [5, 4])] };
      },
    },
    {
      id: "nees", title: "NEES", note: "share of peers whose mean NEES/n is at most this; 1 is expected, grey is 0.5 to 2", needsTruth: true,
      chart: () => {
        const chart = distribution((row) => row.nees, "NEES / n", true);
        const [low, high] = [Math.log10(0.5), Math.log10(2)];
        chart.parts.unshift({ kind: "band", isQuiet: true, x: [low, high], low: [0, 0], high: [102, 102], colour: css("--soft"), alpha: 0.14 });
        chart.parts.push({ kind: "line", x: [0, 1e-9], y: [0, 102], colour: css("--soft"), width: 1, isQuiet: true });
        return chart;
      },
    },
    {
      id: "paired", title: "Pairs", note: "each peer in both; below the line the second is better", needsTruth: true, needsPairs: true,
      chart: () => {
        const parts = groups.map((group) => points(pairs.filter(({ one }) => one.group === group), ({ one }) => error(one), ({ other }) => error(other), colourOf(group)));
        const window = range(parts.flatMap((part) => [...part.x, ...part.y]));
        return { x: { label: `error of ${a.name} (m)`, window, ticks: powers }, y: { label: `error of ${b.name} (m)`, range: window, ticks: powers }, parts: [...parts, { kind: "line", x: window, y: window, colour: css("--soft"), width: 1.2, isQuiet: true }] };
      },
    },
  ];

  const keyOf = (row) => `${row.recording}\n${row.peer}`;
  const others = new Map((b?.rows ?? []).map((row) => [keyOf(row), row]));
  const pairs = (b ? a.rows : []).map((one) => ({ one, other: others.get(keyOf(one)) })).filter(({ other }) => other);

  const charts = [];
  function makePanels() {
    for (const panel of panels) {
      if (panel.needsTruth && !data.batches.some((batch) => batch.rows.some((row) => isNumber(error(row))))) continue;
      if (panel.needsPairs && !pairs.length) continue;
      const canvas = element("canvas", { role: "img", "aria-label": `${panel.title}: ${panel.note}` });
      const button = element("button", { type: "button", class: "save", "aria-label": `Save ${panel.title} as a picture` }, "Save");
      button.addEventListener("click", () => save(canvas, `${panel.id}.png`));
      byId("curves").append(element("figure", { class: "card", id: panel.id }, element("figcaption", {}, element("b", {}, panel.title), panel.note), canvas, button));
      const entry = { panel, window: [0, 1] };
      entry.chart = nearbyChart(canvas, { window: () => entry.window });
      charts.push(entry);
    }
  }
  function drawPanels() {
    for (const entry of charts) {
      const chart = entry.panel.chart();
      entry.window = chart.x.window;
      entry.chart.chart = chart;
    }
  }

  // ---- Tables ---------------------------------------------------------------------------------------

  function fill(table, titles, rows) {
    table.replaceChildren(
      element("thead", {}, element("tr", {}, ...titles.map((title, i) => element("th", { scope: "col", class: i < 2 ? "words" : "" }, title)))),
      element("tbody", {}, ...rows.map((cells) => element("tr", {}, ...cells.map((cell, i) => {
        const [content, mark] = Array.isArray(cell) ? cell : [cell, ""];
        return element("td", { class: [i < 2 ? "words" : "", mark].join(" ").trim() }, content);
      })))));
  }
  const nameOf = (row) => {
    const page = data.pages[row.recording];
    return page ? element("a", { href: page }, row.recording) : row.recording;
  };

  function drawTables() {
    const worst = [...a.rows].sort((x, y) => Number(isWrong(y)) - Number(isWrong(x)) || (error(y) ?? -1) - (error(x) ?? -1) || Number(isFound(x)) - Number(isFound(y))).slice(0, 10);
    fill(byId("worst"), ["recording", "peer", "found after s", "error m", "σ at the end m", "NEES/n", "wrong %"], worst.map((row) => [
      nameOf(row), row.peer, isFound(row) ? text(row.seconds_to_convergence, 1) : "not found", text(error(row), 2), text(row.sigma, 2), text(row.nees, 2),
      [isNumber(row.falsely_converged_share) ? text(100 * row.falsely_converged_share, 1) : "–", isWrong(row) ? "bad" : ""],
    ]));
    fill(byId("groups"), ["dataset", "batch", "peers", "found", "median s", "median error m", "90 % m", "median NEES/n", "confidently wrong"], groups.flatMap((group) => data.batches.map((batch) => {
      const rows = batch.rows.filter((row) => row.group === group);
      const wrong = rows.filter(isWrong).length;
      return [group, batch.name, String(rows.length), `${rows.filter(isFound).length}`, text(quantile(rows.map((row) => row.seconds_to_convergence), 0.5), 1),
        text(quantile(rows.map(error), 0.5), 3), text(quantile(rows.map(error), 0.9), 3), text(quantile(rows.map((row) => row.nees), 0.5), 2), [String(wrong), wrong ? "bad" : ""]];
    })));
    const failures = data.batches.flatMap((batch) => batch.failures.map((failure) => [failure.recording, failure.error]));
    byId("failures").hidden = !failures.length;
    fill(byId("failed"), ["recording", "error"], failures);
    byId("pairs").hidden = !pairs.length;
    if (!pairs.length) return;
    const lost = pairs.filter(({ one, other }) => isFound(one) && !isFound(other));
    const won = pairs.filter(({ one, other }) => !isFound(one) && isFound(other));
    const better = pairs.filter(({ one, other }) => error(other) < error(one) * 0.98).length;
    const worse = pairs.filter(({ one, other }) => error(other) > error(one) * 1.02).length;
    byId("pairs-note").textContent = `${b.name} against ${a.name}: of ${count(pairs.length, "pair")} ${better} are better, ${worse} worse by more than 2 %; `
      + `${count(lost.length, "peer")} no longer found, ${won.length} found in addition.`;
    const change = ({ one, other }) => (isNumber(error(one)) && isNumber(error(other)) ? Math.log(error(other) / error(one)) : 0);
    const shown = [...lost, ...won, ...pairs.filter((pair) => !lost.includes(pair) && !won.includes(pair)).sort((x, y) => Math.abs(change(y)) - Math.abs(change(x)))].slice(0, 20);
    fill(byId("pairs-table"), ["recording", "peer", `${a.name}: error m`, `${b.name}: error m`, `${a.name}: found s`, `${b.name}: found s`], shown.map((pair) => [
      nameOf(pair.one), pair.one.peer, text(error(pair.one), 3), [text(error(pair.other), 3), change(pair) > 0.02 ? "bad" : change(pair) < -0.02 ? "good" : ""],
      isFound(pair.one) ? text(pair.one.seconds_to_convergence, 1) : "not found", [isFound(pair.other) ? text(pair.other.seconds_to_convergence, 1) : "not found", lost.includes(pair) ? "bad" : won.includes(pair) ? "good" : ""],
    ]));
  }

  function drawHeadline() {
    byId("title").textContent = data.batches.map((batch) => batch.name).join(" and ");
    const say = ({ rows, failures }) => {
      const median = quantile(rows.map(error), 0.5);
      const wrong = rows.filter(isWrong).length;
      const hasTruth = rows.some((row) => isNumber(row.falsely_converged_share));
      return [`${rows.filter(isFound).length} of ${count(rows.length, "peer")} found`, isNumber(median) ? `median error ${text(median, 2)} m` : null,
        hasTruth ? (wrong ? `${wrong} confidently wrong at some moment` : "none confidently wrong") : null,
        failures.length ? `${count(failures.length, "recording")} failed` : null].filter(Boolean).join(", ");
    };
    byId("headline").textContent = data.batches.map((batch) => (b ? `${batch.name}: ` : "") + say(batch)).join(". ") + ".";
    byId("key").replaceChildren(
      ...groups.map((group) => element("span", { "--colour": colourOf(group) }, element("i"), group)),
      ...(b ? [element("span", { "--colour": css("--ink") }, element("i"), a.name), element("span", { "--colour": css("--ink"), "--line": "dashed" }, element("i"), b.name)] : []));
  }

  function drawAll() {
    document.documentElement.dataset.theme = theme;
    byId("theme").textContent = theme === "dark" ? "Light" : "Dark";
    drawHeadline(), drawTables(), drawPanels();
  }
  byId("theme").addEventListener("click", () => { theme = theme === "dark" ? "light" : "dark"; drawAll(); });
  makePanels();
  drawAll();
  document.documentElement.dataset.ready = "true";
})();
