// SPDX-License-Identifier: Apache-2.0
// Draws the report in the page's #data; Report.json documents its contents.
"use strict";
(() => {
  const report = JSON.parse(document.getElementById("data").textContent);

  // ---- What is shown ------------------------------------------------------------------------

  const byId = (id) => document.getElementById(id);
  const longest = Math.max(1e-3, ...report.recordings.map((recording) => recording.duration));
  const peers = [...new Set(report.runs.flatMap((run) => run.tracks.map((track) => track.peer)))];
  const hasTruth = report.recordings.some((recording) => recording.hasTruth);
  const isTouch = matchMedia("(pointer: coarse)").matches;

  const state = {
    peer: peers[0],
    hidden: new Set(),
    time: longest,
    range: [0, longest],
    isPlaying: false,
    theme: matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light",
  };

  // Okabe and Ito's colours, which are distinguishable with any colour vision; lighter on dark.
  const palettes = {
    light: ["#0072b2", "#d55e00", "#009e73", "#b5588f", "#b07c00", "#3a94c9", "#6b6b6b"],
    dark: ["#56b4e9", "#ff8a4c", "#2fc79a", "#e39ac4", "#f0b429", "#9cd3f5", "#b8b8b8"],
  };
  const statusNames = ["no data", "not converged", "converged"];
  const reasonWords = {
    insufficientSignalStrength: "weak signal",
    insufficientLighting: "poor light",
    insufficientMovement: "little movement",
    insufficientHorizontalSweep: "no horizontal sweep",
    insufficientVerticalSweep: "no vertical sweep",
  };

  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colour = (run) => palettes[state.theme][report.runs.indexOf(run) % palettes.light.length];
  const faded = (hex, alpha) =>
    `rgba(${[1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)).join(",")},${alpha})`;
  // Plotly interprets some HTML in its texts, so names from recordings are escaped.
  const plain = (text) =>
    text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");

  const visibleRuns = () => report.runs.filter((run) => !state.hidden.has(run));
  const trackOf = (run) => run.tracks.find((track) => track.peer === state.peer);
  const chosen = () =>
    visibleRuns().map((run) => ({ run, track: trackOf(run) })).filter(({ track }) => track);
  // Columns of curves, with an empty row in each long gap between samples.
  for (const track of report.runs.flatMap((run) => run.tracks)) {
    const m = track.moments;
    track.curves = { ...m };
    if (!m.gap) continue;
    for (const name of Object.keys(m)) {
      track.curves[name] = m[name].flatMap((x, i) =>
        m.gap[i] === 1 ? [name === "time" ? x : null, x] : [x]);
    }
  }
  const column = (track, name) => track.curves[name] ?? track.curves.time.map(() => null);

  // ---- Numbers --------------------------------------------------------------------------------

  const isNumber = (x) => x !== null && x !== undefined && Number.isFinite(x);
  const text = (x, decimals, unit = "") =>
    isNumber(x) ? x.toFixed(decimals).replace("-", "−") + (unit && " " + unit) : "–";
  const zip = (a, b, f) => a.map((x, i) => (isNumber(x) && isNumber(b[i]) ? f(x, b[i]) : null));
  const wrapped = (degrees) => degrees - 360 * Math.round(degrees / 360);

  // The last row that is not later than a time; -1 before the first.
  function rowAt(times, time) {
    let [low, high] = [0, times.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (times[middle] <= time) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  }

  function deviceAt(recording, time) {
    const device = recording.device;
    if (!device.time) return null;
    const i = Math.max(0, rowAt(device.time, time));
    const j = Math.min(i + 1, device.time.length - 1);
    const gap = device.time[j] - device.time[i];
    const share = gap > 0 ? Math.min(1, Math.max(0, (time - device.time[i]) / gap)) : 0;
    const between = (name) => device[name][i] + share * (device[name][j] - device[name][i]);
    return { x: between("x"), y: between("y"), z: between("z"), heading: device.heading[i] };
  }

  // ---- Shapes ---------------------------------------------------------------------------------

  // The outline of centre ± width as one filled path, broken where anything is missing.
  function band(times, low, high) {
    const [x, y] = [[], []];
    let start = 0;
    for (let i = 0; i <= times.length; i += 1) {
      if (i < times.length && isNumber(low[i]) && isNumber(high[i])) continue;
      if (i > start) {
        for (let k = start; k < i; k += 1) x.push(times[k]), y.push(high[k]);
        for (let k = i - 1; k >= start; k -= 1) x.push(times[k]), y.push(low[k]);
        x.push(null), y.push(null);
      }
      start = i + 1;
    }
    return { x, y };
  }

  // A line that is interrupted at jumps, as of an angle at ±180 degrees.
  function broken(times, values, limit) {
    const [x, y] = [[], []];
    values.forEach((value, i) => {
      if (i > 0 && isNumber(value) && Math.abs(value - values[i - 1]) > limit) x.push(null), y.push(null);
      x.push(times[i]), y.push(value);
    });
    return { x, y };
  }

  // ---- Traces ---------------------------------------------------------------------------------

  const line = (run, x, y, more = {}) => ({
    type: "scatter", mode: "lines", x, y, name: plain(run.name), connectgaps: false,
    line: { color: colour(run), width: 1.8 }, ...more,
  });
  const quiet = { hoverinfo: "skip" };
  const fillBand = (x, low, high, color) => ({
    type: "scatter", mode: "lines", ...band(x, low, high), fill: "toself", fillcolor: color,
    line: { width: 0 }, ...quiet,
  });
  const level = (y, color) => ({
    type: "scatter", mode: "lines", x: [0, longest], y: [y, y], line: { color, width: 1 }, ...quiet,
  });
  const dashed = (x, y, name) => ({
    type: "scatter", mode: "lines", x, y, name, line: { color: css("--ink"), width: 1.3, dash: "dash" },
    hovertemplate: "%{y:.2f}",
  });
  // All runs of a recording have the same truth, so it is drawn once per recording.
  const truths = () => {
    const seen = new Set();
    return chosen().filter(({ run, track }) => {
      if (!track.moments.trueX || seen.has(run.recording)) return false;
      return seen.add(run.recording);
    });
  };

  // ---- Panels over time -------------------------------------------------------------------------

  // A published quantity with its band, and the truth.
  function quantity(value, sigma, truth, unit, isAngle) {
    const limit = isAngle ? 180 : Infinity;
    const traces = [];
    for (const { run, track } of chosen()) {
      const [t, v, s] = [track.curves.time, column(track, value), column(track, sigma)];
      traces.push(
        fillBand(t, zip(v, s, (a, b) => a - b), zip(v, s, (a, b) => a + b), faded(colour(run), 0.2)));
    }
    for (const { track } of truths()) {
      const path = broken(track.curves.time, column(track, truth), limit);
      traces.push(dashed(path.x, path.y, "truth"));
    }
    for (const { run, track } of chosen()) {
      const path = broken(track.curves.time, column(track, value), limit);
      traces.push(line(run, path.x, path.y, { hovertemplate: `%{y:.2f} ${unit}` }));
    }
    return traces;
  }

  // The axis holds all errors, and the bands except their first wide moments.
  function errorOf(value, sigma, truth, unit, difference) {
    const traces = [];
    let reach = 0;
    for (const { run, track } of chosen()) {
      const t = track.curves.time;
      const error = zip(column(track, value), column(track, truth), difference);
      if (!error.some(isNumber)) continue;
      const s = error.map((x, i) => (isNumber(x) ? column(track, sigma)[i] : null));
      const times = (k) => s.map((x) => (isNumber(x) ? k * x : null));
      traces.push(fillBand(t, times(-1), times(1), faded(colour(run), 0.2)));
      for (const k of [-3, 3]) {
        traces.push(line(run, t, times(k), {
          line: { color: faded(colour(run), 0.75), width: 1, dash: "dot" }, ...quiet,
        }));
      }
      traces.push(line(run, t, error, { hovertemplate: `%{y:.3f} ${unit}` }));
      const widths = times(3).filter(isNumber).sort((a, b) => a - b);
      reach = error.reduce((most, x) => Math.max(most, Math.abs(x ?? 0)),
        Math.max(reach, widths[Math.floor(0.9 * widths.length)] ?? 0));
    }
    return {
      traces: traces.length ? [level(0, css("--soft")), ...traces] : [],
      y: { title: `error (${unit})`, range: [-1.12 * reach, 1.12 * reach] },
      empty: "No published value has a known truth, so there is no error to show.",
    };
  }

  // Squares on a logarithmic axis; smaller values are drawn at its lower end.
  const foot = 0.01;
  const squares = (values) => values.map((x) => (isNumber(x) ? Math.max(x, foot) : null));
  const steps = [-3, -2, -1, 0, 1, 2, 3].flatMap((power) => [1, 2, 5].map((n) => n * 10 ** power));
  const squaresAxis = (title) => ({
    title, type: "log", tickvals: [0.01, 0.1, 1, 10, 100, 1e3, 1e4],
    ticktext: ["≤0.01", "0.1", "1", "10", "100", "1 000", "10 000"],
  });
  const sampleBand = (components) => {
    const limits = report.bands[components - 1];
    if (!limits) return [];
    const [low, high] = limits;
    return [fillBand([0, longest], [Math.max(low, foot), Math.max(low, foot)], [high, high], css("--band"))];
  };

  // Ticks at quarter turns if the whole circle is shown.
  function degreeTicks(names) {
    const all = chosen().flatMap(({ track }) => names.flatMap((name) => column(track, name).filter(isNumber)));
    const [low, high] = [Math.min(...all), Math.max(...all)];
    return high - low > 180 ? { tick0: 0, dtick: 90 } : {};
  }

  const panels = {
    distance: () => {
      const traces = quantity("distance", "distanceSigma", "trueDistance", "m", false);
      const seen = new Set();
      const measured = chosen().filter(({ run }) => !seen.has(run.recording) && seen.add(run.recording));
      return {
        traces: [
          ...measured.map(({ track }) => ({
            type: "scatter", mode: "markers", x: track.curves.time, y: column(track, "measuredDistance"),
            name: "measured", marker: { color: css("--soft"), size: 3, opacity: 0.55 },
            hovertemplate: "%{y:.2f} m",
          })),
          ...traces,
        ],
        y: { title: "distance (m)" },
      };
    },
    "distance-error": () => errorOf("distance", "distanceSigma", "trueDistance", "m", (a, b) => a - b),
    angle: () => ({
      traces: quantity("angle", "angleSigma", "trueAngle", "°", true),
      y: { title: "angle (°)", ...degreeTicks(["angle", "trueAngle"]) },
      empty: "The horizontal angle was never published.",
    }),
    "angle-error": () => errorOf("angle", "angleSigma", "trueAngle", "°", (a, b) => wrapped(a - b)),
    position: () => {
      const traces = [];
      for (const { run, track } of chosen()) {
        const m = track.curves;
        traces.push(line(run, m.time, column(track, "sigma"), {
          line: { color: colour(run), width: 1.6, dash: "dot" }, hovertemplate: "σ %{y:.3f} m",
        }));
        if (!m.trueX) continue;
        const error = m.time.map((_, i) => errorAt(m, i));
        traces.push(line(run, m.time, error, { hovertemplate: "error %{y:.3f} m" }));
      }
      return { traces, y: { title: "position (m)", type: "log", tickvals: steps } };
    },
    timeline: () => {
      const rows = chosen().filter(({ track }) => track.timeline.time);
      const lanes = ["converged", "not converged"];
      const used = report.reasons.filter((_, bit) =>
        rows.some(({ track }) => track.timeline.reasons?.some((bits) => bits & (1 << bit))));
      lanes.push(...used.map((reason) => reasonWords[reason] ?? reason));
      const traces = [];
      rows.forEach(({ run, track }, index) => {
        const { time, status, reasons } = track.timeline;
        const end = report.recordings[run.recording].duration;
        const offset = rows.length > 1 ? 0.5 * (0.5 - index / (rows.length - 1)) : 0;
        const width = rows.length > 1 ? Math.max(3, 14 / rows.length) : 13;
        lanes.forEach((lane, place) => {
          const isOn = (i) =>
            place === 0 ? status[i] === 2
              : place === 1 ? status[i] !== 2
                : (reasons[i] & (1 << report.reasons.indexOf(used[place - 2]))) !== 0;
          const [x, y] = [[], []];
          for (let i = 0; i < time.length; i += 1) {
            if (!isOn(i)) continue;
            let j = i;
            while (j + 1 < time.length && isOn(j + 1)) j += 1;
            x.push(time[i], time[j + 1] ?? end, null), y.push(-place + offset, -place + offset, null);
            i = j;
          }
          if (!x.length) return;
          traces.push(line(run, x, y, {
            line: { color: place === 0 ? colour(run) : faded(colour(run), place === 1 ? 0.75 : 0.45), width },
            hovertemplate: `${plain(lane)}, %{x:.1f} s`,
          }));
        });
      });
      return {
        traces, left: 138, closest: true,
        y: {
          tickvals: lanes.map((_, i) => -i), ticktext: lanes, range: [0.6 - lanes.length, 0.6],
          fixedrange: true, showgrid: false,
        },
        empty: "Smoothed rows have no status.",
      };
    },
    nis: () => {
      const rows = chosen().filter(({ track }) => track.curves.nis);
      if (!rows.length) return { traces: [], empty: "No sample was compared with a prediction." };
      const n = rows[0].track.facts.components;
      byId("nis-components").textContent = n === 1 ? "for one component, as most samples have" : `for ${n} components, as most samples have`;
      const traces = [...sampleBand(n), level(1, css("--soft"))];
      for (const { run, track } of rows) {
        const t = track.curves.time;
        const kept = (name) => t.flatMap((_, i) => (isNumber(track.curves.nis[i]) ? [column(track, name)[i]] : []));
        const times = t.filter((_, i) => isNumber(track.curves.nis[i]));
        traces.push({
          type: "scatter", mode: "markers", x: times, y: squares(kept("nis")), name: plain(run.name),
          marker: { color: colour(run), size: 3.2, opacity: rows.length > 1 ? 0.35 : 0.5 },
          hovertemplate: "%{y:.2f}",
        });
        traces.push(fillBand(times, kept("nisLow"), kept("nisHigh"), faded(colour(run), 0.25)));
        traces.push(line(run, times, kept("nisMean"), {
          line: { color: colour(run), width: 2.2 }, hovertemplate: "mean %{y:.2f}",
        }));
      }
      return { traces, y: squaresAxis("NIS / n") };
    },
    nees: () => {
      const rows = chosen().filter(({ track }) => track.curves.nees);
      if (!rows.length) return { traces: [], empty: "The truth about this peer is not known." };
      const traces = [...sampleBand(rows[0].track.facts.positionComponents), level(1, css("--soft"))];
      for (const { run, track } of rows) {
        traces.push(line(run, track.curves.time, squares(track.curves.nees), { hovertemplate: "%{y:.2f}" }));
      }
      return { traces, y: squaresAxis("NEES / n") };
    },
    hypotheses: () => ({
      traces: chosen().filter(({ track }) => track.curves.hypotheses).map(({ run, track }) =>
        line(run, track.curves.time, track.curves.hypotheses, {
          line: { color: colour(run), width: 1.8, shape: "hv" }, hovertemplate: "%{y}",
        })),
      y: {
        title: "hypotheses alive", type: "log", tickvals: [1, 2, 5, 10, 20, 50, 100, 200],
      },
      empty: "Smoothed rows have no hypotheses.",
    }),
    outcomes: () => {
      const rows = chosen().filter(({ track }) => track.outcomes.time);
      const traces = [];
      const axes = {};
      const height = 1 / Math.max(1, rows.length);
      rows.forEach(({ run, track }, index) => {
        const bins = track.outcomes;
        const width = bins.time.length > 1 ? bins.time[1] - bins.time[0] : longest;
        const axis = index === 0 ? "" : String(index + 1);
        for (const use of ["all", "partial", "rejected"]) {
          traces.push({
            type: "bar", x: bins.time.map((t) => t + width / 2), y: bins[use], name: use,
            width: width * 0.9, yaxis: "y" + axis, marker: { color: css("--" + use), line: { width: 0 } },
            hovertemplate: `%{y} ${use}`,
          });
        }
        axes["yaxis" + axis] = {
          domain: [1 - (index + 1) * height + (index + 1 < rows.length ? 0.06 : 0), 1 - index * height],
          rangemode: "tozero", nticks: rows.length > 1 ? 3 : 6,
          title: { text: rows.length > 1 ? plain(run.name.slice(0, 14)) : "samples per bar" },
        };
      });
      return { traces, axes, layout: { barmode: "stack", bargap: 0 }, empty: "Smoothing uses all samples." };
    },
  };

  function errorAt(m, i) {
    if (!m.trueX || ![m.x?.[i], m.trueX[i]].every(isNumber)) return null;
    return Math.hypot(m.x[i] - m.trueX[i], m.y[i] - m.trueY[i], m.z[i] - m.trueZ[i]);
  }

  // ---- Layout ---------------------------------------------------------------------------------

  const font = () => ({
    family: getComputedStyle(document.documentElement).fontFamily, size: 11.5, color: css("--soft"),
  });
  const axisStyle = () => ({
    gridcolor: css("--grid"), linecolor: css("--rule"), zeroline: false, ticks: "outside", ticklen: 4,
    tickcolor: css("--rule"), automargin: false,
  });
  const titled = (axis) => ({
    ...axis, title: typeof axis.title === "string" ? { text: axis.title, standoff: 6 } : axis.title,
  });
  const commonLayout = () => ({
    paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", font: font(), showlegend: false,
    dragmode: isTouch ? false : "zoom",
    modebar: { bgcolor: "rgba(0,0,0,0)", color: css("--rule"), activecolor: css("--soft") },
    hoverlabel: {
      bgcolor: css("--card"), bordercolor: css("--rule"), font: { color: css("--ink"), size: 12 },
      namelength: 30,
    },
  });
  const settings = {
    displaylogo: false, responsive: true,
    // Buttons are listed explicitly: another one of plotly's would send the data to its makers.
    modeBarButtons: [["zoom2d", "pan2d", "zoomIn2d", "zoomOut2d", "resetScale2d", "toImage"]],
  };

  const plotOf = (id) => byId(id).querySelector(".plot");
  const right = 14;
  const bottom = 42;

  function drawPanel(id) {
    const plot = plotOf(id);
    const panel = panels[id]();
    const hasPoints = panel.traces.some((trace) => trace.y.some(isNumber));
    if (!hasPoints) {
      if (plot.data) Plotly.purge(plot);
      const note = document.createElement("div");
      note.className = "empty";
      note.textContent = panel.empty ?? "There is nothing to show.";
      plot.replaceChildren(note);
      return;
    }
    if (!plot.data) plot.replaceChildren();
    const left = panel.left ?? 62;
    const layout = {
      ...commonLayout(), ...panel.layout,
      margin: { l: left, r: right, t: 8, b: bottom },
      hovermode: panel.closest ? "closest" : "x",
      xaxis: titled({ ...axisStyle(), title: "time (s)", range: [...state.range], hoverformat: ".1f" }),
    };
    if (panel.axes) {
      for (const [name, axis] of Object.entries(panel.axes)) layout[name] = { ...axisStyle(), ...axis };
    } else {
      layout.yaxis = titled({ ...axisStyle(), ...panel.y });
    }
    const isNew = !plot.data;
    Plotly.react(plot, panel.traces, layout, settings);
    if (!isNew) return;
    const cursor = document.createElement("div");
    cursor.className = "cursor";
    Object.assign(cursor.style, { top: "8px", bottom: bottom + "px", display: "none" });
    plot.append(cursor);
    plot.left = left;
    plot.inner = plot.clientWidth - left - right;
    plot.on("plotly_autosize", () => {
      plot.inner = plot.clientWidth - left - right;
      drawCursors();
    });
    plot.cursor = cursor;
    plot.on("plotly_relayout", (change) => followZoom(plot, change));
    plot.on("plotly_click", (event) => setTime(event.points[0].x));
  }

  const timePlots = () => Object.keys(panels).map(plotOf).filter((plot) => plot.data);

  // All panels share one window of time.
  let isFollowing = false;
  function followZoom(source, change) {
    if (isFollowing) return;
    let range = null;
    if (change["xaxis.autorange"]) range = [0, longest];
    else if ("xaxis.range[0]" in change) range = [change["xaxis.range[0]"], change["xaxis.range[1]"]];
    else if (Array.isArray(change["xaxis.range"])) range = change["xaxis.range"];
    if (!range) return;
    state.range = range;
    isFollowing = true;
    const others = timePlots().filter((plot) => plot !== source || change["xaxis.autorange"]);
    Promise.all(others.map((plot) => Plotly.relayout(plot, { "xaxis.range": [...range] })))
      .finally(() => { isFollowing = false; drawCursors(); });
  }

  function drawCursors() {
    for (const plot of timePlots()) {
      const [from, to] = plot.layout.xaxis.range;
      const share = (state.time - from) / (to - from);
      plot.cursor.style.display = share >= 0 && share <= 1 ? "" : "none";
      plot.cursor.style.transform = `translateX(${plot.left + share * plot.inner}px)`;
    }
  }

  // ---- Maps -----------------------------------------------------------------------------------

  const views = {
    above: { up: "y", ellipse: "above", axes: [0, 1] },
    side: { up: "z", ellipse: "side", axes: [0, 2] },
  };

  const recordingsShown = () => {
    const runs = visibleRuns();
    return report.recordings.filter((_, index) => runs.some((run) => run.recording === index));
  };

  // The static parts: paths and trails. Bounds leave out wide early estimates, which would shrink the rest.
  function stillTraces(view, bounds) {
    const up = view.up;
    const traces = [];
    const note = (x, y) => {
      if (!isNumber(x) || !isNumber(y)) return;
      bounds.x = [Math.min(bounds.x[0], x), Math.max(bounds.x[1], x)];
      bounds.y = [Math.min(bounds.y[0], y), Math.max(bounds.y[1], y)];
    };
    for (const { device } of recordingsShown()) {
      if (!device.time) continue;
      device.time.forEach((_, i) => note(device.x[i], device[up][i]));
      traces.push({
        type: "scatter", mode: "lines", x: device.x, y: device[up], name: "device", customdata: device.time,
        line: { color: css("--soft"), width: 1.4 }, opacity: 0.75,
        hovertemplate: "device at %{customdata:.1f} s<extra></extra>",
      });
    }
    for (const run of visibleRuns()) {
      for (const track of run.tracks) {
        const m = track.moments;
        if (!m.x) continue;
        const last = m.x.findLastIndex(isNumber);
        note(m.x[last], m[up][last]);
        // The last ellipse of the selected track is always visible, since it is the result.
        if (track.peer === state.peer && last >= 0) {
          const reach = m[view.ellipse + "Major"][last];
          note(m.x[last], m[up][last] + reach), note(m.x[last], m[up][last] - reach);
        }
        if (m.trueX) {
          const name = "true" + up.toUpperCase();
          m.trueX.forEach((x, i) => note(x, m[name][i]));
          if (track.peer === state.peer) {
            traces.push({
              type: "scatter", mode: "lines", x: m.trueX, y: m[name], ...quiet,
              line: { color: css("--ink"), width: 1, dash: "dot" },
            });
          }
        }
        if (track.peer !== state.peer) continue;
        const isSettled = (i) => !m.status || m.status[i] === 2;
        for (const settled of [false, true]) {
          const rows = m.x.flatMap((x, i) => (isNumber(x) && isSettled(i) === settled ? [i] : []));
          if (!rows.length) continue;
          if (settled) rows.forEach((i) => note(m.x[i], m[up][i]));
          traces.push({
            type: "scatter", mode: "markers", name: plain(run.name),
            x: rows.map((i) => m.x[i]), y: rows.map((i) => m[up][i]),
            customdata: rows.map((i) => [m.time[i], m.sigma[i], m.hypotheses?.[i] ?? "–"]),
            marker: { color: colour(run), size: settled ? 4 : 3.5, opacity: settled ? 0.55 : 0.22 },
            hovertemplate: "%{customdata[0]:.1f} s: σ %{customdata[1]:.2f} m, hypotheses %{customdata[2]}",
          });
        }
      }
    }
    return traces;
  }

  // Performance: the moving parts are a separate picture over the map. Plotly would take a tenth of a
  // second to redraw them, this takes a thousandth.
  const svg = (name, attributes, content) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    if (content !== undefined) element.textContent = content;
    return element;
  };

  // The device, and each run's estimates, ellipses and truth at the chosen moment.
  function moveMap(name) {
    const plot = byId(name);
    const view = views[name];
    const { x: [left, rightEnd], y: [low, high] } = plot.ranges;
    const [width, height] = plot.inner;
    const px = (x) => ((x - left) / (rightEnd - left)) * width;
    const py = (y) => height - ((y - low) / (high - low)) * height;
    const scale = width / (rightEnd - left);
    const still = [];
    const front = [];
    // Many names would overlap.
    const namesAll = peers.length <= 8;
    const [ink, card] = [css("--ink"), css("--card")];
    for (const run of visibleRuns()) {
      const color = colour(run);
      const device = deviceAt(report.recordings[run.recording], state.time);
      for (const track of run.tracks) {
        const m = track.moments;
        const i = rowAt(m.time, state.time);
        if (i < 0) continue;
        const isChosen = track.peer === state.peer;
        if (m.trueX && isNumber(m.trueX[i])) {
          const [x, y] = [px(m.trueX[i]), py(m["true" + view.up.toUpperCase()][i])];
          front.push(svg("path", {
            d: `M${x - 5} ${y - 5}L${x + 5} ${y + 5}M${x - 5} ${y + 5}L${x + 5} ${y - 5}`,
            stroke: ink, "stroke-width": 2.2, class: "truth",
          }));
        }
        if (!isNumber(m.x?.[i])) continue;
        const [x, y] = [px(m.x[i]), py(m[view.up][i])];
        const [major, minor, angle] = ["Major", "Minor", "Angle"].map((part) => m[view.ellipse + part][i]);
        for (const [sigmas, alpha, dash] of [[3.4, 0.06, "2 3"], [1, 0.22, "none"]]) {
          still.push(svg("ellipse", {
            rx: sigmas * major * scale, ry: sigmas * minor * scale, class: "sigma",
            transform: `translate(${x} ${y}) rotate(${-angle})`, fill: color, "fill-opacity": alpha,
            stroke: color, "stroke-width": 1.2, "stroke-dasharray": dash, opacity: isChosen ? 1 : 0.45,
          }));
        }
        if (isChosen && device) {
          still.push(svg("line", {
            x1: px(device.x), y1: py(device[view.up]), x2: x, y2: y, stroke: color, "stroke-opacity": 0.6,
          }));
        }
        front.push(svg("circle", {
          cx: x, cy: y, r: isChosen ? 5.5 : 4, fill: color, stroke: card, "stroke-width": 1.5,
          class: "estimate",
        }));
        if (peers.length > 1 && (isChosen || namesAll)) {
          const isNearEdge = x > 0.85 * width;
          front.push(svg("text", {
            x: isNearEdge ? x - 8 : x + 8, y: y - 8, "text-anchor": isNearEdge ? "end" : "start", fill: ink, "font-size": 11.5, "paint-order": "stroke", stroke: card,
            "stroke-width": 3, "font-weight": isChosen ? 650 : 400,
          }, track.peer));
        }
      }
    }
    for (const recording of recordingsShown()) {
      const device = deviceAt(recording, state.time);
      if (!device) continue;
      // From above an arrowhead in the camera's direction, from the side a dot.
      front.push(name === "above"
        ? svg("path", {
            d: "M0 -11L7.5 8L0 4L-7.5 8Z", fill: ink, stroke: card, "stroke-width": 1.5, class: "device",
            transform: `translate(${px(device.x)} ${py(device.y)}) rotate(${device.heading})`,
          })
        : svg("circle", {
            cx: px(device.x), cy: py(device.z), r: 6, fill: ink, stroke: card, "stroke-width": 1.5,
            class: "device",
          }));
    }
    plot.overlay.replaceChildren(...still, ...front);
  }

  // Bounds with the panel's proportions, so that both axes have the same scale.
  function fitted(bounds, plot, margin) {
    const size = [plot.clientWidth - margin.l - margin.r, plot.clientHeight - margin.t - margin.b];
    const spans = [bounds.x, bounds.y].map(([a, b]) => (b > a ? b - a : 0));
    const perPixel = Math.max(spans[0] / size[0], spans[1] / size[1], 1 / size[0]) * 1.16;
    return [bounds.x, bounds.y].map(([a, b], i) => {
      const middle = isFinite(a + b) ? (a + b) / 2 : 0;
      return [middle - (perPixel * size[i]) / 2, middle + (perPixel * size[i]) / 2];
    });
  }

  const mapMargin = { l: 56, r: right, t: 8, b: bottom };

  function drawMap(name, keepsView) {
    const view = views[name];
    const plot = byId(name);
    const bounds = { x: [Infinity, -Infinity], y: [Infinity, -Infinity] };
    const traces = stillTraces(view, bounds);
    const [x, y] = keepsView && plot.ranges
      ? [plot.ranges.x, plot.ranges.y] : fitted(bounds, plot, mapMargin);
    const axes = (recordingsShown()[0] ?? report.recordings[0]).axes;
    const layout = {
      ...commonLayout(), margin: mapMargin, hovermode: "closest", dragmode: isTouch ? false : "pan",
      xaxis: titled({ ...axisStyle(), title: `${axes[view.axes[0]]} (m)`, range: [...x] }),
      yaxis: titled({
        ...axisStyle(), title: `${axes[view.axes[1]]} (m)`, range: [...y], scaleanchor: "x", scaleratio: 1,
      }),
    };
    Plotly.react(plot, traces, layout, settings);
    if (plot.overlay) return;
    plot.overlay = svg("svg", { class: "overlay" });
    Object.assign(plot.overlay.style, { left: mapMargin.l + "px", top: mapMargin.t + "px" });
    plot.append(plot.overlay);
    const follow = (change) => {
      const range = (axis) =>
        `${axis}.range[0]` in (change ?? {})
          ? [change[`${axis}.range[0]`], change[`${axis}.range[1]`]] : plot.layout[axis].range;
      plot.ranges = { x: range("xaxis"), y: range("yaxis") };
      plot.inner = [
        plot.clientWidth - mapMargin.l - mapMargin.r, plot.clientHeight - mapMargin.t - mapMargin.b,
      ];
      plot.overlay.setAttribute("width", plot.inner[0]);
      plot.overlay.setAttribute("height", plot.inner[1]);
      moveMap(name);
    };
    plot.on("plotly_relayouting", follow);
    plot.on("plotly_relayout", () => follow());
    plot.on("plotly_autosize", () => follow());
    follow();
  }

  // ---- Tables ---------------------------------------------------------------------------------

  function cell(row, content, { tag = "td", words = false, run = null } = {}) {
    const element = document.createElement(tag);
    if (words) element.className = "words";
    if (run) {
      const dot = document.createElement("i");
      dot.style.setProperty("--run", colour(run));
      element.append(dot);
    }
    const [main, small] = Array.isArray(content) ? content : [content];
    element.append(main);
    if (small) element.append(Object.assign(document.createElement("small"), { textContent: small }));
    row.append(element);
    return element;
  }

  function fillTable(table, titles, rows) {
    const head = document.createElement("thead");
    const titleRow = document.createElement("tr");
    titles.forEach((title, i) => cell(titleRow, title.text, { tag: "th", words: i === 0 || title.words }));
    head.append(titleRow);
    const body = document.createElement("tbody");
    body.append(...rows);
    table.replaceChildren(head, body);
  }

  const reasonsText = (bits) =>
    report.reasons.filter((_, bit) => bits & (1 << bit)).map((name) => reasonWords[name] ?? name).join(", ");
  const statusText = (status, bits) =>
    status === null || status === undefined ? "–"
      : statusNames[status] + (status === 1 && bits ? ": " + reasonsText(bits) : "");
  const lastNumber = (values) => values?.findLast(isNumber);

  function drawFacts() {
    const titles = [
      { text: "run" }, { text: "peer", words: true }, { text: "at the end", words: true },
      { text: ["converged", "s"] }, { text: "lost" }, { text: ["rejected", "of samples"] },
      { text: ["distance", "m"] }, { text: ["σ", "m"] },
    ];
    if (hasTruth) {
      titles.push(
        { text: ["RMSE", "2nd half, m"] }, { text: ["RMSE", "converged, m"] }, { text: ["Δ distance", "m"] },
        { text: ["Δ bearing", "°"] }, { text: "NEES/n" });
    }
    titles.push({ text: "NIS/n" });
    if (hasTruth) titles.push({ text: ["false", "%"] });
    const rows = [];
    for (const peer of peers) {
      for (const run of report.runs) {
        const track = run.tracks.find((candidate) => candidate.peer === peer);
        if (!track) continue;
        const row = document.createElement("tr");
        const { facts, figures = {}, moments: m, timeline } = track;
        cell(row, run.name, { run, words: true });
        cell(row, peer, { words: true });
        cell(row, run.source === "smoothed" ? "smoothed"
          : statusText(timeline.status?.at(-1), timeline.reasons?.at(-1)), { words: true });
        cell(row, run.source === "smoothed" ? "–" : text(facts.secondsToConverge, 1));
        cell(row, run.source === "smoothed" ? "–" : String(facts.losses));
        cell(row, run.source === "smoothed" ? "–" : `${facts.rejected} / ${facts.samples}`);
        cell(row, text(lastNumber(m.distance), 2));
        cell(row, text(lastNumber(m.sigma), 2));
        if (hasTruth) {
          cell(row, text(figures.rmseSecondHalf, 3));
          cell(row, text(figures.rmseConverged, 3));
          cell(row, text(figures.medianDistanceError, 3));
          cell(row, text(figures.medianBearingError, 2));
          cell(row, text(figures.nees, 2));
        }
        cell(row, text(figures.nis ?? lastNumber(m.nisMean), 2));
        if (hasTruth) {
          cell(row, text(isNumber(figures.falselyConvergedShare) ? 100 * figures.falselyConvergedShare : null, 2));
        }
        row.classList.toggle("chosen", peers.length > 1 && peer === state.peer);
        row.addEventListener("click", () => choosePeer(peer));
        rows.push(row);
      }
    }
    fillTable(byId("facts"), titles, rows);
  }

  function drawMoment() {
    const titles = [
      { text: peers.length > 1 ? `${state.peer} at ${text(state.time, 1)} s` : `at ${text(state.time, 1)} s` },
      { text: "status", words: true }, { text: "distance" }, { text: "angle" }, { text: "position σ" },
      { text: "hypotheses" },
    ];
    if (hasTruth) titles.push({ text: "position error" });
    const rows = chosen().map(({ run, track }) => {
      const m = track.moments;
      const i = rowAt(m.time, state.time);
      const at = (name) => (i < 0 ? null : m[name]?.[i] ?? null);
      const stretch = track.timeline.time ? rowAt(track.timeline.time, state.time) : -1;
      const row = document.createElement("tr");
      cell(row, run.name, { run, words: true });
      cell(row, run.source === "smoothed" ? "smoothed" : stretch < 0 ? "–"
        : statusText(track.timeline.status[stretch], track.timeline.reasons?.[stretch]), { words: true });
      const plusMinus = (value, sigma, decimals, unit) =>
        isNumber(value) ? `${text(value, decimals)}${isNumber(sigma) ? " ± " + text(sigma, decimals) : ""} ${unit}` : "–";
      cell(row, plusMinus(at("distance"), at("distanceSigma"), 2, "m"));
      cell(row, plusMinus(at("angle"), at("angleSigma"), 1, "°"));
      cell(row, text(at("sigma"), 2, "m"));
      cell(row, text(at("hypotheses"), 0));
      if (hasTruth) cell(row, text(i < 0 ? null : errorAt(m, i), 2, "m"));
      return row;
    });
    fillTable(byId("moment"), titles, rows);
  }

  // ---- The moment -----------------------------------------------------------------------------

  let isDue = false;
  function setTime(time) {
    state.time = Math.min(longest, Math.max(0, time));
    byId("slider").value = state.time;
    byId("now").textContent = `${text(state.time, 1)} of ${text(longest, 1)} s`;
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      moveMap("above");
      moveMap("side");
      drawMoment();
      drawCursors();
    });
  }

  let lastFrame = null;
  function play(now) {
    if (!state.isPlaying) return;
    if (lastFrame !== null) setTime(state.time + ((now - lastFrame) / 1000) * Number(byId("speed").value));
    lastFrame = now;
    if (state.time >= longest) setPlaying(false);
    else requestAnimationFrame(play);
  }

  function setPlaying(isPlaying) {
    state.isPlaying = isPlaying;
    lastFrame = null;
    byId("play").textContent = isPlaying ? "❚❚" : "▶";
    byId("play").setAttribute("aria-label", isPlaying ? "Pause" : "Play");
    if (!isPlaying) return;
    if (state.time >= longest) setTime(0);
    requestAnimationFrame(play);
  }

  // ---- Choices --------------------------------------------------------------------------------

  function choosePeer(peer) {
    state.peer = peer;
    byId("peer").value = peer;
    drawAll(true);
  }

  function drawRuns() {
    byId("runs").replaceChildren(...report.runs.map((run) => {
      const chip = document.createElement("button");
      chip.type = "button";
      chip.setAttribute("aria-pressed", String(!state.hidden.has(run)));
      chip.style.setProperty("--run", colour(run));
      chip.append(document.createElement("i"), run.name);
      chip.addEventListener("click", () => {
        if (!state.hidden.delete(run)) state.hidden.add(run);
        if (state.hidden.size === report.runs.length) state.hidden.clear();
        drawAll(true);
      });
      return chip;
    }));
    document.documentElement.style.setProperty("--run0", colour(visibleRuns()[0]));
  }

  // The panels are drawn one by one, so that the page stays usable; a later drawing cancels an earlier one.
  let drawing = 0;
  async function drawAll(keepsView) {
    const mine = (drawing += 1);
    document.documentElement.dataset.theme = state.theme;
    drawRuns();
    drawFacts();
    for (const name of Object.keys(views)) drawMap(name, keepsView);
    setTime(state.time);
    for (const id of Object.keys(panels)) {
      await new Promise((resolve) => { setTimeout(resolve); });
      if (drawing !== mine) return;
      drawPanel(id);
    }
    drawCursors();
    document.documentElement.dataset.ready = "true";
  }

  function start() {
    const names = report.recordings.map((recording) => recording.name);
    byId("title").textContent = names.join(", ");
    const samples = report.runs.filter((run) => run.source === "estimates")
      .reduce((sum, run) => sum + run.tracks.reduce((n, track) => n + track.facts.samples, 0), 0);
    const count = (n, word) => `${n.toLocaleString("en").replace(/,/g, " ")} ${word}${n === 1 ? "" : "s"}`;
    byId("subtitle").textContent = [
      count(report.runs.length, "run"), count(peers.length, "peer"), count(samples, "sample"),
      text(longest, 0, "s"), hasTruth ? "with truth" : "without truth", "engine " + report.engine,
    ].join(" · ");
    byId("worlds").hidden = report.recordings.length < 2;
    for (const element of document.querySelectorAll(".truth-only")) element.hidden = !hasTruth;
    for (const id of hasTruth ? [] : ["distance-error", "angle-error", "nees"]) {
      byId(id).hidden = true;
      delete panels[id];
    }
    byId("peer").append(...peers.map((peer) => new Option(peer, peer)));
    byId("peer-choice").hidden = peers.length < 2;
    byId("peer").addEventListener("change", (event) => choosePeer(event.target.value));
    byId("theme").addEventListener("click", () => {
      state.theme = state.theme === "dark" ? "light" : "dark";
      drawAll(true);
    });
    const slider = byId("slider");
    slider.max = longest;
    slider.addEventListener("input", () => { setPlaying(false); setTime(Number(slider.value)); });
    byId("play").addEventListener("click", () => setPlaying(!state.isPlaying));
    // The speed that plays the whole recording in about twenty seconds.
    const speeds = [...byId("speed").options].map((option) => Number(option.value));
    byId("speed").value = speeds.findLast((speed) => speed <= Math.max(1, longest / 15));
    for (const option of byId("speed").options) option.textContent = option.value + "×";
    setPlaying(false);
    drawAll(false);
  }

  start();
})();
