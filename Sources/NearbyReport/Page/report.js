// SPDX-License-Identifier: Apache-2.0
// Draws the report in the page's #data and #numbers; ReportData.md documents their contents.
"use strict";
(() => {
  const { palettes, isNumber, text, element, rowAt, save } = nearbyView;
  const report = nearbyView.read();
  const byId = (id) => document.getElementById(id);

  // ---- What is shown ------------------------------------------------------------------------------

  const longest = Math.max(1e-3, ...report.recordings.map((recording) => recording.duration));
  const peers = [...new Set(report.runs.flatMap((run) => run.tracks.map((track) => track.peer)))];
  const hasTruth = report.recordings.some((recording) => recording.hasTruth);
  const engineRuns = report.runs.filter((run) => run.source === "estimates");
  // The map shows one run; curves show all that are switched on, each with dashes of its own.
  const dashes = [[], [7, 4], [2, 3], [9, 3, 2, 3], [4, 4]];
  const state = {
    run: engineRuns[0] ?? report.runs[0],
    peer: peers[0],
    time: longest,
    window: [0, longest],
    isPlaying: false,
    theme: nearbyView.prefersDark() ? "dark" : "light",
    paths: new Set(["odometry", "corrected", "smoothed", "true path"]),
  };

  const reasonWords = {
    insufficientSignalStrength: "weak signal",
    insufficientLighting: "poor light",
    limitedTracking: "limited odometry",
    insufficientMovement: "little movement",
    insufficientHorizontalSweep: "no horizontal sweep",
    insufficientVerticalSweep: "no vertical sweep",
  };
  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const colourOf = (peer) => palettes[state.theme][peers.indexOf(peer) % palettes.light.length];
  const trackIn = (run, peer) => run.tracks.find((track) => track.peer === peer);
  const smoothedOf = (run) =>
    report.runs.find((other) => other.source === "smoothed" && other.recording === run.recording && other.name === `${run.name} smoothed`);
  const isNow = (track) => track.timeline.status?.at(-1) === 2;
  const plural = (n, word) => `${n.toLocaleString("en").replace(/,/g, " ")} ${word}${n === 1 ? "" : "s"}`;

  // ---- The state at a moment ----------------------------------------------------------------------

  function deviceAt(run, time) {
    const device = report.recordings[run.recording].device;
    if (!device.time) return null;
    const path = run.correctedPath.time ? run.correctedPath : device;
    const at = (table, name) => {
      const i = Math.max(0, rowAt(table.time, time));
      const j = Math.min(i + 1, table.time.length - 1);
      const gap = table.time[j] - table.time[i];
      const share = gap > 0 ? Math.min(1, Math.max(0, (time - table.time[i]) / gap)) : 0;
      return table[name][i] + share * (table[name][j] - table[name][i]);
    };
    return { x: at(path, "x"), y: at(path, "y"), z: at(path, "z"), heading: device.heading[Math.max(0, rowAt(device.time, time))] };
  }

  const covarianceAt = (table, i) => ["xx", "xy", "xz", "yy", "yz", "zz"].map((name) => table[name][i]);

  // The modes of the moment; none where the place is one.
  function modesAt(track, time) {
    const table = track.modes;
    if (!table.time) return [];
    const last = rowAt(table.time, time + 1e-4);
    if (last < 0) return [];
    let first = last;
    while (first > 0 && table.time[first - 1] === table.time[last]) first -= 1;
    track.modeSpacing ??= (() => {
      const moments = [...new Set(table.time)];
      const steps = moments.slice(1).map((t, i) => t - moments[i]).sort((a, b) => a - b);
      return Math.max(1, 3 * (steps[steps.length >> 1] ?? 1));
    })();
    if (time - table.time[last] > track.modeSpacing) return [];
    const rows = [];
    for (let i = first; i <= last; i += 1) rows.push({ weight: table.weight[i], mean: [table.x[i], table.y[i], table.z[i]], covariance: covarianceAt(table, i) });
    return rows;
  }

  function peerAt(track, time) {
    const m = track.moments;
    const i = rowAt(m.time, time + 1e-6);
    const isKnown = i >= 0 && isNumber(m.x?.[i]);
    const isSmoothed = !track.timeline.time;
    const stretch = isSmoothed ? -1 : rowAt(track.timeline.time, time + 1e-6);
    const several = i >= 0 && m.hypotheses && m.hypotheses[i] > 1;
    return {
      name: track.peer, colour: colourOf(track.peer), isChosen: track.peer === state.peer,
      place: isKnown ? [m.x[i], m.y[i], m.z[i]] : null,
      covariance: isKnown ? covarianceAt(m, i) : [0, 0, 0, 0, 0, 0],
      isConverged: isSmoothed ? isKnown : stretch >= 0 && track.timeline.status[stretch] === 2,
      truth: i >= 0 && isNumber(m.trueX?.[i]) ? [m.trueX[i], m.trueY[i], m.trueZ[i]] : null,
      modes: several ? modesAt(track, time) : [],
    };
  }

  // ---- The map ------------------------------------------------------------------------------------

  const map = nearbyMap(byId("map"), {
    axes: () => report.recordings[state.run.recording].axes,
    onPick: (index) => choosePeer(state.run.tracks[index].peer),
  });

  function pathsOf(run) {
    const recording = report.recordings[run.recording];
    const smoothed = smoothedOf(run);
    const ink = css("--ink"), soft = css("--soft");
    const all = [
      { label: "odometry", table: recording.device, colour: soft, dash: run.correctedPath.time ? [2, 3] : [], line: run.correctedPath.time ? "dotted" : "solid", width: 1.6 },
      { label: "true path", table: run.truePath, colour: ink, dash: [8, 4], line: "dashed", width: 1.6 },
      { label: run.source === "smoothed" ? "smoothed" : "corrected", table: run.correctedPath, colour: css("--accent"), dash: [], line: "solid", width: 2.4 },
      { label: "smoothed", table: run.source === "smoothed" ? {} : smoothed?.correctedPath ?? {}, colour: css("--good"), dash: [], line: "solid", width: 1.6 },
    ];
    return all.filter(({ table }) => table.time?.length);
  }

  // What is shown at first: the paths, and where the peers are at the end.
  function boundsOf(run) {
    const [low, high] = [[Infinity, Infinity, Infinity], [-Infinity, -Infinity, -Infinity]];
    const note = (place, reach = 0) => place.forEach((x, i) => {
      if (isNumber(x)) (low[i] = Math.min(low[i], x - reach)), (high[i] = Math.max(high[i], x + reach));
    });
    for (const { table } of pathsOf(run)) for (let i = 0; i < table.time.length; i += 1) note([table.x[i], table.y[i], table.z[i]]);
    const walk = Math.max(3, Math.hypot(...high.map((x, i) => x - low[i])));
    for (const track of run.tracks) {
      const peer = peerAt(track, longest);
      if (peer.truth) note(peer.truth);
      for (const { mean, weight } of peer.modes) if (weight > 0.02 && Math.hypot(...mean) < 20 * walk) note(mean);
      const reach = 2 * Math.sqrt(peer.covariance[0] + peer.covariance[3]);
      if (peer.place && peer.modes.length < 2 && reach < walk) note(peer.place, reach);
    }
    return isNumber(low[0]) ? [low, high] : undefined;
  }

  let drawn = null;
  function drawMap() {
    const run = state.run;
    if (drawn?.run !== run || drawn.theme !== state.theme || drawn.paths !== [...state.paths].join()) {
      drawn = { run, theme: state.theme, paths: [...state.paths].join(), all: pathsOf(run), bounds: boundsOf(run) };
    }
    map.scene = {
      paths: drawn.all.filter(({ label }) => state.paths.has(label)).map(({ label, table, colour, dash, width }) => ({
        label, colour, dash, width, x: table.x, y: table.y, z: table.z, end: rowAt(table.time, state.time) + 1,
      })),
      device: deviceAt(run, state.time),
      peers: run.tracks.map((track) => peerAt(track, state.time)),
      bounds: drawn.bounds,
    };
  }

  function drawPathButtons() {
    byId("paths").replaceChildren(...pathsOf(state.run).map(({ label, colour, line }) => {
      const button = element("button", { type: "button", "aria-pressed": String(state.paths.has(label)), "--colour": colour, "--line": line }, element("i"), label);
      button.addEventListener("click", () => {
        if (!state.paths.delete(label)) state.paths.add(label);
        button.setAttribute("aria-pressed", String(state.paths.has(label)));
        drawMap();
      });
      return button;
    }));
    byId("map-key").replaceChildren(
      element("span", {}, "● converged"), element("span", {}, "○ not yet"), element("span", {}, "ellipses: 1 σ and 3.4 σ"),
      ...(hasTruth ? [element("span", {}, "× truth")] : []), element("span", {}, "wheel zooms after a click; arrows, + and − work too"));
  }

  // Whether heights differ enough to be looked at.
  function hasHeights(run) {
    const bounds = boundsOf(run);
    if (!bounds) return false;
    const [low, high] = bounds;
    const device = report.recordings[run.recording].device;
    const flatPeers = run.tracks.every((track) => (track.moments.zz?.at(-1) ?? 0) < 1e-4);
    return high[2] - low[2] > 0.1 && !(flatPeers && device.z && Math.max(...device.z) - Math.min(...device.z) < 0.05);
  }

  // ---- The answer ---------------------------------------------------------------------------------

  function drawAnswer() {
    const run = state.run;
    const isSmoothed = run.source === "smoothed";
    const order = [...run.tracks].sort((a, b) => Number(isNow(b)) - Number(isNow(a)));
    const found = run.tracks.filter((track) => isSmoothed || isNumber(track.facts.secondsToConverge)).length;
    const headline = [`${found} of ${plural(run.tracks.length, "peer")} ${isSmoothed ? "placed" : "found"}`];
    if (run.path) headline.push(run.path);
    byId("headline").textContent = headline.join(" · ") + ".";
    byId("peers").replaceChildren(...order.map((track) => {
      const isFound = isSmoothed || isNow(track);
      const button = element("button", { type: "button", "aria-pressed": String(track.peer === state.peer), "--colour": colourOf(track.peer) },
        element("span", { class: isFound ? "swatch" : "swatch open" }), element("span", {}, element("b", {}, track.peer), ` ${track.sentence}.`));
      const error = track.figures?.rmseSecondHalf;
      if (isNumber(error)) button.append(element("small", {}, `True error ${text(error, 2)} m.`));
      for (const advice of track.advice) button.append(element("small", { class: "todo" }, `${advice[0].toUpperCase()}${advice.slice(1)}.`));
      button.addEventListener("click", () => choosePeer(track.peer));
      return element("li", {}, button);
    }));
    const remarks = [];
    const list = (title, items) => { if (items.length) remarks.push(element("h3", {}, title), element("ul", {}, ...items)); };
    const item = (main, small) => element("li", {}, `${main}.`, small ? element("small", {}, small) : null);
    list("What is wrong with the recording", run.findings.map((finding) => item(finding.message, finding.remedy)));
    list("What the recording tells of radio and odometry", run.calibration.map((line) => item(line)));
    list("What happened", run.events.map((event) => item(event.text)));
    byId("remarks").replaceChildren(...remarks);
  }

  function drawMoment() {
    const track = trackIn(state.run, state.peer);
    const box = byId("moment");
    if (!track) return (box.textContent = "");
    const m = track.moments;
    const i = rowAt(m.time, state.time + 1e-6);
    const stretch = track.timeline.time ? rowAt(track.timeline.time, state.time + 1e-6) : -1;
    const status = !track.timeline.time ? "smoothed" : stretch < 0 ? "not heard yet" : ["no data", "not converged", "converged"][track.timeline.status[stretch]];
    const bits = stretch >= 0 ? track.timeline.reasons?.[stretch] ?? 0 : 0;
    const reasons = report.reasons.filter((_, bit) => bits & (1 << bit)).map((name) => reasonWords[name] ?? name);
    const at = (name) => (i < 0 ? null : m[name]?.[i] ?? null);
    const parts = [`${track.peer} at ${text(state.time, 1)} s: ${status}${reasons.length ? ` (${reasons.join(", ")})` : ""}`];
    if (isNumber(at("distance"))) parts.push(`distance ${text(at("distance"), 2)} ± ${text(at("distanceSigma"), 2)} m`);
    if (isNumber(at("angle"))) parts.push(`angle ${text(at("angle"), 1)} ± ${text(at("angleSigma"), 1)}°`);
    if (isNumber(at("sigma"))) parts.push(`σ ${text(at("sigma"), 2)} m`);
    if (isNumber(errorAt(m, i))) parts.push(`position error ${text(errorAt(m, i), 2)} m`);
    if (at("hypotheses") > 1) parts.push(`${at("hypotheses")} hypotheses`);
    box.textContent = `${parts.join(", ")}.`;
    byId("map").setAttribute("aria-label", `Map. ${box.textContent}`);
  }

  const errorAt = (m, i) =>
    i < 0 || !m.trueX || !isNumber(m.x?.[i]) || !isNumber(m.trueX[i]) ? NaN
      : Math.hypot(m.x[i] - m.trueX[i], m.y[i] - m.trueY[i], m.z[i] - m.trueZ[i]);

  // ---- The ribbon: convergence of each peer over time, which is also the player's bar ---------------

  function drawRibbon() {
    const canvas = byId("ribbon");
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    canvas.width = Math.round(width * ratio), canvas.height = Math.round(height * ratio);
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = css("--page"), context.fillRect(0, 0, width, height);
    const tracks = state.run.tracks;
    const lane = height / Math.max(1, tracks.length);
    const inset = lane > 7 ? 1 : 0;
    tracks.forEach((track, row) => {
      const { time, status } = track.timeline;
      if (!time) {
        context.fillStyle = colourOf(track.peer), context.fillRect(0, row * lane + inset, width, lane - 2 * inset);
        return;
      }
      const end = report.recordings[state.run.recording].duration;
      time.forEach((from, i) => {
        const to = time[i + 1] ?? end;
        const [left, right] = [(from / longest) * width, (to / longest) * width];
        context.globalAlpha = status[i] === 2 ? 1 : status[i] === 1 ? 0.25 : 0.08;
        context.fillStyle = colourOf(track.peer);
        context.fillRect(left, row * lane + inset, Math.max(0.7, right - left), lane - 2 * inset);
      });
      context.globalAlpha = 1;
      if (lane > 13) {
        context.font = "600 11px system-ui, sans-serif", context.textBaseline = "middle";
        context.lineWidth = 3, context.strokeStyle = css("--card"), context.fillStyle = css("--ink");
        context.strokeText(track.peer, 6, (row + 0.5) * lane), context.fillText(track.peer, 6, (row + 0.5) * lane);
      }
    });
    for (const { time } of state.run.events) {
      context.fillStyle = css("--rejected"), context.fillRect((time / longest) * width - 1, 0, 2, height);
    }
    context.fillStyle = css("--ink");
    context.fillRect((state.time / longest) * width - 1.5, 0, 3, height);
  }

  // ---- Curves -------------------------------------------------------------------------------------

  // Columns of curves, with an empty row in each long gap between samples.
  function curvesOf(track) {
    if (track.curves) return track.curves;
    const m = track.moments;
    if (!m.gap) return (track.curves = m);
    track.curves = {};
    for (const name of Object.keys(m)) {
      track.curves[name] = Array.from(m[name]).flatMap((x, i) => (m.gap[i] === 1 ? [name === "time" ? x : NaN, x] : [x]));
    }
    return track.curves;
  }
  const shown = () =>
    report.runs.filter((run) => run.recording === state.run.recording)
      .map((run, index) => ({ run, dash: dashes[index % dashes.length], track: trackIn(run, state.peer), index }))
      .filter(({ track }) => track);
  const values = (track, name) => curvesOf(track)[name] ?? new Float32Array(curvesOf(track).time.length).fill(NaN);
  const each = (a, b, f) => Float64Array.from(a, (x, i) => f(x, b[i]));
  const colourOfRun = (index) => (index === 0 ? colourOf(state.peer) : palettes[state.theme][(peers.indexOf(state.peer) + 2 * index) % palettes.light.length]);

  function quantity(value, sigma, truth, isAngle) {
    const parts = [];
    for (const { track, index } of shown()) {
      const t = values(track, "time");
      const [v, s] = [values(track, value), values(track, sigma)];
      parts.push({ kind: "band", x: t, low: each(v, s, (a, b) => a - b), high: each(v, s, (a, b) => a + b), colour: colourOfRun(index), alpha: 0.2 });
    }
    const first = shown()[0]?.track;
    if (first?.moments[truth]) parts.push({ kind: "line", name: "truth", x: values(first, "time"), y: values(first, truth), colour: css("--ink"), width: 1.2, dash: [5, 3], jump: isAngle ? 180 : Infinity });
    for (const { run, track, dash, index } of shown()) {
      parts.push({ kind: "line", name: run.name, x: values(track, "time"), y: values(track, value), colour: colourOfRun(index), dash, jump: isAngle ? 180 : Infinity });
    }
    return parts;
  }

  function errorOf(value, sigma, truth, isAngle) {
    const parts = [{ kind: "level", y: 0, colour: css("--soft"), width: 1 }];
    for (const { run, track, dash, index } of shown()) {
      if (!track.moments[truth] || !track.moments[value]) continue;
      const [t, s] = [values(track, "time"), values(track, sigma)];
      const error = each(values(track, value), values(track, truth), (a, b) => (isAngle ? a - b - 360 * Math.round((a - b) / 360) : a - b));
      for (const k of [3, 1]) {
        parts.push({ kind: "band", x: t, low: each(error, s, (e, x) => (isNumber(e) ? -k * x : NaN)), high: each(error, s, (e, x) => (isNumber(e) ? k * x : NaN)), colour: colourOfRun(index), alpha: k === 1 ? 0.2 : 0.07 });
      }
      parts.push({ kind: "line", name: run.name, x: t, y: error, colour: colourOfRun(index), dash });
    }
    return parts.length > 1 ? parts : [];
  }

  // Squares on a logarithmic axis; smaller values are drawn at its lower end.
  const foot = 0.01;
  const squares = (array) => Float64Array.from(array, (x) => (isNumber(x) ? Math.max(x, foot) : NaN));
  const squareTicks = [[0.01, "≤0.01"], [0.1, "0.1"], [1, "1"], [10, "10"], [100, "100"], [1e3, "1000"]];
  function sampleBand(components) {
    const limits = report.bands[components - 1];
    return [
      ...(limits ? [{ kind: "band", isQuiet: true, x: [0, longest], low: [Math.max(limits[0], foot), Math.max(limits[0], foot)], high: [limits[1], limits[1]], colour: css("--soft"), alpha: 0.13 }] : []),
      { kind: "level", y: 1, colour: css("--soft"), width: 1 },
    ];
  }

  const panels = {
    distance: {
      title: "Distance", note: "published with 1 σ; grey: measured",
      chart: () => ({
        y: { label: "distance (m)", unit: "m" },
        parts: [
          ...shown().slice(0, 1).map(({ track }) => ({ kind: "points", name: "measured", x: values(track, "time"), y: values(track, "measuredDistance"), colour: css("--soft"), alpha: 0.55 })),
          ...quantity("distance", "distanceSigma", "trueDistance", false),
        ],
      }),
    },
    "distance-error": {
      title: "Distance error", note: "published minus true, with 1 σ and 3 σ", needsTruth: true,
      chart: () => ({ y: { label: "error (m)", unit: "m", isSymmetric: true, decimals: 3 }, parts: errorOf("distance", "distanceSigma", "trueDistance", false) }),
    },
    angle: {
      title: "Horizontal angle", note: "from the device's heading, positive to the right",
      chart: () => ({ y: { label: "angle (°)", unit: "°", decimals: 1 }, parts: quantity("angle", "angleSigma", "trueAngle", true) }),
    },
    "angle-error": {
      title: "Horizontal angle error", note: "published minus true, with 1 σ and 3 σ", needsTruth: true,
      chart: () => ({ y: { label: "error (°)", unit: "°", isSymmetric: true }, parts: errorOf("angle", "angleSigma", "trueAngle", true) }),
    },
    position: {
      title: "Position: claimed and true error", note: "thin: claimed σ; thick: the error",
      chart: () => ({
        y: { label: "position (m)", unit: "m", isLogarithmic: true, decimals: 3 },
        parts: shown().flatMap(({ run, track, dash, index }) => {
          const m = curvesOf(track);
          const parts = [{ kind: "line", name: `${run.name} σ`, x: m.time, y: values(track, "sigma"), colour: colourOfRun(index), width: 1.2, alpha: 0.8, dash: [3, 3] }];
          if (m.trueX) parts.push({ kind: "line", name: `${run.name} error`, x: m.time, y: Float64Array.from(m.time, (_, i) => errorAt(m, i)), colour: colourOfRun(index), width: 2, dash });
          return parts;
        }),
      }),
    },
    nees: {
      title: "NEES", note: "squared error over its claim, 1 expected; grey holds 95 %", needsTruth: true,
      chart: () => {
        const rows = shown().filter(({ track }) => track.moments.nees);
        return {
          y: { label: "NEES / n", isLogarithmic: true, ticks: squareTicks },
          parts: rows.length ? [
            ...sampleBand(rows[0].track.facts.positionComponents),
            ...rows.map(({ run, track, dash, index }) => ({ kind: "line", name: run.name, x: values(track, "time"), y: squares(values(track, "nees")), colour: colourOfRun(index), dash })),
          ] : [],
        };
      },
    },
    nis: {
      title: "NIS", note: "squared innovation of each sample, 1 expected; line: mean of 50",
      chart: () => {
        const rows = shown().filter(({ track }) => track.moments.nis);
        return {
          y: { label: "NIS / n", isLogarithmic: true, ticks: squareTicks },
          parts: rows.length ? [
            ...sampleBand(rows[0].track.facts.components),
            ...rows.flatMap(({ run, track, index }) => {
              const m = curvesOf(track);
              const kept = Array.from(m.time, (_, i) => i).filter((i) => isNumber(m.nis[i]));
              const pick = (name) => Float64Array.from(kept, (i) => m[name]?.[i] ?? NaN);
              return [
                { kind: "points", x: pick("time"), y: squares(pick("nis")), colour: colourOfRun(index), alpha: 0.45 },
                { kind: "band", isQuiet: true, x: pick("time"), low: pick("nisLow"), high: pick("nisHigh"), colour: colourOfRun(index), alpha: 0.22 },
                { kind: "line", name: run.name, x: pick("time"), y: pick("nisMean"), colour: colourOfRun(index), width: 2.2 },
              ];
            }),
          ] : [],
        };
      },
    },
    hypotheses: {
      title: "Hypotheses", note: "one is left once the peer is found",
      chart: () => ({
        y: { label: "hypotheses", isLogarithmic: true, ticks: [1, 2, 5, 10, 20, 50, 100].map((n) => [n, String(n)]), decimals: 0 },
        parts: shown().filter(({ track }) => track.moments.hypotheses).map(({ run, track, dash, index }) => ({ kind: "steps", name: run.name, x: values(track, "time"), y: values(track, "hypotheses"), colour: colourOfRun(index), dash })),
      }),
    },
    timeline: {
      title: "Status and reasons", note: "what stood in the way of convergence",
      chart: () => {
        const rows = shown().filter(({ track }) => track.timeline.time);
        const used = report.reasons.filter((_, bit) => rows.some(({ track }) => Array.from(track.timeline.reasons ?? []).some((bits) => bits & (1 << bit))));
        const lanes = ["converged", "not converged", ...used.map((name) => reasonWords[name] ?? name)];
        const parts = rows.flatMap(({ run, track, index }) => lanes.map((lane, place) => {
          const { time, status, reasons } = track.timeline;
          const isOn = (i) => (place === 0 ? status[i] === 2 : place === 1 ? status[i] !== 2 : (reasons[i] & (1 << report.reasons.indexOf(used[place - 2]))) !== 0);
          const [x, y] = [[], []];
          Array.from(time).forEach((from, i) => {
            if (!isOn(i)) return;
            x.push(from, time[i + 1] ?? report.recordings[run.recording].duration, time[i + 1] ?? longest);
            y.push(-place - 0.12 * index, -place - 0.12 * index, NaN);
          });
          return { kind: "line", x, y, colour: colourOfRun(index), alpha: place === 0 ? 1 : 0.6, width: rows.length > 1 ? 4 : 9 };
        }));
        return { y: { label: "", left: 124, range: [0.6 - lanes.length, 0.6], ticks: lanes.map((lane, i) => [-i, lane]) }, parts };
      },
    },
    outcomes: {
      title: "Use of the samples", note: "used wholly, in part (orange), rejected (red)",
      chart: () => {
        const row = shown().find(({ track }) => track.outcomes.time);
        if (!row) return { y: { label: "samples" }, parts: [] };
        const bins = row.track.outcomes;
        const barWidth = bins.time.length > 1 ? bins.time[1] - bins.time[0] : longest;
        const [all, both] = [bins.all, each(bins.all, bins.partial, (a, b) => a + b)];
        const whole = each(both, bins.rejected, (a, b) => a + b);
        const bar = (low, high, colour) => ({ kind: "bars", x: bins.time, low, high, y: high, colour, barWidth });
        return {
          y: { label: "samples per bar", includesZero: true, decimals: 0 },
          parts: [bar(Float64Array.from(all, () => 0), all, css("--all")), bar(all, both, css("--partial")), bar(both, whole, css("--rejected"))],
        };
      },
    },
  };

  const charts = new Map();
  function makePanels() {
    for (const [id, panel] of Object.entries(panels)) {
      if (panel.needsTruth && !hasTruth) continue;
      const canvas = element("canvas", { tabindex: 0, role: "img", "aria-label": `${panel.title}: ${panel.note}` });
      const button = element("button", { type: "button", class: "save", "aria-label": `Save ${panel.title} as a picture` }, "Save");
      button.addEventListener("click", () => save(canvas, `${state.peer}-${id}.png`));
      const figure = element("figure", { id, class: "card" }, element("figcaption", {}, element("b", {}, panel.title), panel.note), canvas, button);
      byId("curves").append(figure);
      charts.set(id, {
        figure, panel, isStale: true, isSeen: false,
        chart: nearbyChart(canvas, {
          window: () => state.window, now: () => state.time, setWindow, onTime: (time) => { setPlaying(false); setTime(time); },
        }),
      });
    }
    // Performance: a curve is computed when it is first seen.
    const observer = new IntersectionObserver((entries) => {
      for (const { target, isIntersecting } of entries) {
        const entry = charts.get(target.id);
        entry.isSeen = isIntersecting;
        if (isIntersecting) drawPanel(entry);
      }
    }, { rootMargin: "200px" });
    for (const { figure } of charts.values()) observer.observe(figure);
  }

  function drawPanel(entry) {
    if (entry.isStale) {
      entry.isStale = false;
      const chart = entry.panel.chart();
      const hasPoints = chart.parts.some((part) => part.kind !== "level" && !part.isQuiet && Array.from(part.y ?? part.low).some(isNumber));
      entry.figure.hidden = !hasPoints;
      if (hasPoints) entry.chart.chart = chart;
    } else entry.chart.draw();
  }

  function drawCurves() {
    byId("curves-title").textContent = `${state.peer} over time`;
    for (const entry of charts.values()) {
      entry.isStale = true;
      if (entry.figure.hidden) entry.figure.hidden = false;
      if (entry.isSeen) drawPanel(entry);
    }
  }

  // On paper all curves are seen.
  function drawAllCurves() { for (const entry of charts.values()) drawPanel(entry); }

  function setWindow(range) {
    const [from, to] = range ?? [0, longest];
    const length = Math.min(longest, Math.max(to - from, longest / 1e4));
    const start = Math.min(Math.max(0, from), longest - length);
    state.window = [start, start + length];
    for (const entry of charts.values()) if (!entry.isStale) entry.chart.refit();
  }

  // ---- Tables -------------------------------------------------------------------------------------

  function drawFacts() {
    const rows = peers.flatMap((peer) => report.runs.map((run) => ({ run, track: trackIn(run, peer) })).filter(({ track }) => track));
    const last = (array) => array?.findLast(isNumber);
    const engine = (f) => ({ run, track }) => (run.source === "smoothed" ? "" : f(track));
    const columns = [
      ["peer", ({ track }) => track.peer],
      ...(report.runs.length > 1 ? [["run", ({ run }) => run.name]] : []),
      ["found after s", engine((track) => text(track.facts.secondsToConverge, 1))],
      ["lost", engine((track) => (track.facts.losses ? String(track.facts.losses) : ""))],
      ["rejected", engine((track) => (track.facts.rejected ? `${track.facts.rejected} of ${track.facts.samples}` : ""))],
      ["distance m", ({ track }) => text(last(track.moments.distance), 2)],
      ["σ m", ({ track }) => text(last(track.moments.sigma), 2)],
      ["RMSE 2nd half m", ({ track }) => text(track.figures?.rmseSecondHalf, 3)],
      ["RMSE converged m", ({ track }) => text(track.figures?.rmseConverged, 3)],
      ["distance error m", ({ track }) => text(track.figures?.medianDistanceError, 3)],
      ["bearing error °", ({ track }) => text(track.figures?.medianBearingError, 2)],
      ["NEES/n", ({ track }) => text(track.figures?.nees, 2)],
      ["NIS/n", ({ track }) => text(track.figures?.nis ?? last(track.moments.nisMean), 2)],
      ["false %", ({ track }) => (track.figures?.falselyConvergedShare > 0 ? text(100 * track.figures.falselyConvergedShare, 2) : "")],
      ["published wrong %", ({ track }) => (track.figures?.wronglyPublishedShare > 0 ? text(100 * track.figures.wronglyPublishedShare, 2) : "")],
    ].map(([title, f]) => ({ title, cells: rows.map(f) })).filter(({ cells }, i) => i === 0 || cells.some((cell) => cell !== "" && cell !== "–"));
    const head = element("tr", {}, ...columns.map(({ title }, i) => element("th", { scope: "col", class: i === 0 || title === "run" ? "words" : "" }, title)));
    byId("facts").replaceChildren(element("thead", {}, head), element("tbody", {}, ...rows.map(({ track }, row) =>
      element("tr", { class: track.peer === state.peer ? "chosen" : "" }, ...columns.map(({ title, cells }, i) =>
        element("td", { class: i === 0 || title === "run" ? "words" : "" }, cells[row] || "–"))))));
  }

  // ---- The moment ---------------------------------------------------------------------------------

  let isDue = false;
  function setTime(time) {
    state.time = Math.min(longest, Math.max(0, time));
    byId("slider").value = state.time;
    byId("now").textContent = `${text(state.time, 1)} of ${text(longest, 1)} s`;
    byId("slider").setAttribute("aria-valuetext", byId("now").textContent);
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      if (byId("follow").checked) {
        const length = Math.min(longest, Math.max(10, longest / 10));
        setWindow([state.time - 0.75 * length, state.time + 0.25 * length]);
      }
      drawMap();
      drawRibbon();
      drawMoment();
      for (const entry of charts.values()) if (entry.isSeen && !entry.isStale) entry.chart.draw();
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

  // ---- Choices ------------------------------------------------------------------------------------

  function choosePeer(peer) {
    state.peer = peer;
    byId("peer").value = peer;
    for (const button of byId("peers").querySelectorAll("button")) button.setAttribute("aria-pressed", String(button.querySelector("b").textContent === peer));
    drawMap(), drawMoment(), drawFacts(), drawCurves();
  }

  function chooseRun(run) {
    state.run = run;
    for (const button of byId("runs").children) button.setAttribute("aria-pressed", String(button.run === run));
    if (!trackIn(run, state.peer) && run.tracks.length) state.peer = run.tracks[0].peer;
    drawAll();
    map.fit();
  }

  function chooseView(view) {
    map.view = view;
    for (const button of byId("views").children) button.setAttribute("aria-pressed", String(button.dataset.view === view));
  }

  function drawAll() {
    document.documentElement.dataset.theme = state.theme;
    byId("theme").textContent = state.theme === "dark" ? "Light" : "Dark";
    byId("views").querySelector("[data-view=side]").hidden = !hasHeights(state.run);
    drawPathButtons(), drawAnswer(), drawFacts(), drawMap(), drawRibbon(), drawMoment(), drawCurves();
  }

  function start() {
    byId("title").textContent = report.recordings.map((recording) => recording.name).join(", ");
    byId("runs").hidden = report.runs.length < 2;
    byId("runs").append(...report.runs.map((run) => {
      const button = element("button", { type: "button", "aria-pressed": String(run === state.run) }, run.name);
      button.run = run;
      button.addEventListener("click", () => chooseRun(run));
      return button;
    }));
    byId("peer").append(...peers.map((peer) => new Option(peer, peer)));
    byId("peer-choice").hidden = peers.length < 2;
    byId("peer").addEventListener("change", (event) => choosePeer(event.target.value));
    byId("theme").addEventListener("click", () => { state.theme = state.theme === "dark" ? "light" : "dark"; drawAll(); });
    byId("views").addEventListener("click", (event) => { const view = event.target.dataset?.view; if (view) chooseView(view); });
    byId("zoom-in").addEventListener("click", () => map.zoom(1.4));
    byId("zoom-out").addEventListener("click", () => map.zoom(1 / 1.4));
    byId("fit").addEventListener("click", () => map.fit());
    byId("save-map").addEventListener("click", () => save(byId("map"), "map.png"));
    const slider = byId("slider");
    slider.max = longest;
    slider.addEventListener("input", () => { setPlaying(false); setTime(Number(slider.value)); });
    slider.addEventListener("keydown", (event) => {
      if (event.key === " ") { setPlaying(!state.isPlaying); event.preventDefault(); }
      const step = { ArrowLeft: -1, ArrowRight: 1, PageDown: -10, PageUp: 10 }[event.key];
      if (!step) return;
      setPlaying(false), setTime(state.time + (step * longest) / 200), event.preventDefault();
    });
    byId("play").addEventListener("click", () => setPlaying(!state.isPlaying));
    // The speed that plays the whole recording in about twenty seconds.
    const speeds = [...byId("speed").options].map((option) => Number(option.value));
    byId("speed").value = speeds.findLast((speed) => speed <= Math.max(1, longest / 15));
    for (const option of byId("speed").options) option.textContent = `${option.value}×`;
    addEventListener("beforeprint", () => {
      drawAllCurves();
      for (const { chart, figure } of charts.values()) if (!figure.hidden) chart.paint();
    });
    new ResizeObserver(drawRibbon).observe(byId("ribbon"));
    setPlaying(false);
    setTime(longest);
    drawAll();
    map.fit();
    // The first screen is there; the rest follows in the next task.
    setTimeout(() => { makePanels(); drawCurves(); nearbyReport.readyAt = performance.now(); document.documentElement.dataset.ready = "true"; });
  }

  globalThis.nearbyReport = { report, state, map, charts, setTime, setWindow, drawAllCurves, choosePeer, chooseRun, chooseView };
  start();
})();
