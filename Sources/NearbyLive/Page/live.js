// SPDX-License-Identifier: Apache-2.0
"use strict";
(() => {
  // MARK: State

  const el = id => document.getElementById(id);
  const KEPT = 60;
  let setup = { peers: [], walls: [], people: [], steps: [], isWorld: false, version: 0 };
  /** States of the last minute, ten a second. */
  let history = [];
  /** The newest state. */
  let newest = null;
  let focus = 0;
  let tool = "walk";
  /** The moment shown while paused, seconds; null while live. */
  let moment = null;
  let isPlaying = false;
  let isFitted = false;
  /** Whether the map is fitted again as the scene grows; not once somebody has moved it. */
  let isFollowing = true;
  let fittedAt = 0;
  let isStale = true;
  let chartsAreStale = true;
  let wallInHand = null;

  // Colours of peers, for light and for dark; neighbours differ in lightness, too.
  const PALETTE = [
    ["#0072b2", "#56b4e9"], ["#d55e00", "#ff8c42"], ["#00795c", "#2dc79a"], ["#a3417f", "#e58fc3"],
    ["#8a6d00", "#e3c04a"], ["#5b3fa8", "#b29cf5"], ["#b3261e", "#ff8a80"], ["#3f6212", "#a5d455"],
    ["#155e75", "#67d3e8"], ["#7a4a21", "#d9a878"],
  ];
  const theme = () => document.documentElement.dataset.theme;
  const colour = index => PALETTE[index % PALETTE.length][theme() === "dark" ? 1 : 0];
  const inks = () => {
    const style = getComputedStyle(document.documentElement);
    const ink = name => style.getPropertyValue(name).trim();
    return { ink: ink("--ink"), soft: ink("--soft"), rule: ink("--rule"), grid: ink("--grid"),
      accent: ink("--accent"), good: ink("--good"), warn: ink("--warn"), track: ink("--track") };
  };
  let ink = {};

  const map = nearbyMap(el("map"), {
    theme,
    onPick: index => choose(index),
    // In a world the arrow keys walk instead of moving the map.
    onKey: event => setup.isWorld && event.code in AXES,
  });

  // MARK: Events

  function connect() {
    const events = new EventSource("events");
    events.addEventListener("open", () => link("connected", false));
    events.addEventListener("error", () => link("connection lost, trying again", true));
    events.addEventListener("setup", event => {
      setup = JSON.parse(event.data);
      showSetup();
    });
    events.addEventListener("history", event => {
      history = JSON.parse(event.data);
      newest = history[history.length - 1] ?? null;
      stale();
    });
    events.addEventListener("state", event => {
      const state = JSON.parse(event.data);
      if (newest && state.n <= newest.n && state.t <= newest.t) return;
      newest = state;
      const last = history[history.length - 1];
      if (!last || state.t - last.t >= 0.095) {
        history.push(state);
        while (history.length && state.t - history[0].t > KEPT) history.shift();
        chartsAreStale = true;
      }
      isStale = true;
    });
  }

  function link(text, isLost) {
    el("link").textContent = setup.hasEnded && !isLost ? "the input has ended" : text;
    el("link").classList.toggle("lost", isLost);
  }

  function stale() {
    isStale = true;
    chartsAreStale = true;
  }

  // MARK: Setup

  function showSetup() {
    document.title = setup.title;
    el("title").textContent = setup.title;
    for (const id of ["tools", "lift", "keys"]) el(id).hidden = !setup.isWorld;
    if (!setup.isWorld) tool = "look";
    el("map-box").dataset.tool = tool;
    if (setup.hasEnded) link("", false);
    const list = el("peers");
    while (list.children.length > setup.peers.length) list.lastChild.remove();
    setup.peers.forEach((name, index) => {
      const row = list.children[index] ?? list.appendChild(peerRow(index));
      if (row.name.textContent !== name) row.name.textContent = name;
    });
    showSteps();
    choose(Math.min(focus, Math.max(0, setup.peers.length - 1)));
    stale();
  }

  function peerRow(index) {
    const row = document.createElement("li");
    const button = row.appendChild(document.createElement("button"));
    button.type = "button";
    row.button = button;
    row.swatch = button.appendChild(document.createElement("i"));
    row.name = button.appendChild(document.createElement("b"));
    row.figure = button.appendChild(document.createElement("span"));
    row.ribbon = button.appendChild(document.createElement("canvas"));
    row.ribbon.setAttribute("aria-hidden", "true");
    button.addEventListener("click", () => choose(index));
    return row;
  }

  function choose(index) {
    if (index < 0 || index >= setup.peers.length) return;
    focus = index;
    [...el("peers").children].forEach((row, at) => row.button.setAttribute("aria-pressed", String(at === focus)));
    el("chart-title").textContent = `Distance of ${setup.peers[focus]}`;
    said = "";
    stale();
  }

  // MARK: Steps

  const done = new Set();
  let walked = 0;
  let walkedAt = null;

  function showSteps() {
    el("story").hidden = setup.steps.length === 0;
    const list = el("steps");
    if (list.children.length === setup.steps.length) return;
    list.replaceChildren(...setup.steps.map(step => {
      const item = document.createElement("li");
      item.textContent = step.text;
      return item;
    }));
    markSteps(newest);
  }

  function markSteps(state) {
    if (!setup.steps.length) return;
    if (state?.d) {
      if (walkedAt) {
        const step = Math.hypot(state.d[0] - walkedAt[0], state.d[1] - walkedAt[1]);
        if (step > 0.1) {
          walked += step;
          walkedAt = state.d;
        }
      } else walkedAt = state.d;
    }
    const first = state?.p?.[0];
    if (walked > 2) done.add("walked");
    if (done.has("walked") && first?.m && (first.spots ?? 1) <= 2) done.add("narrowed");
    if (first?.s === "converged") {
      done.add("narrowed").add("converged");
      if (first.d !== null && first.d < 0.7) done.add("reached").add("walked");
    }
    let now = false;
    setup.steps.forEach((step, index) => {
      const isDone = done.has(step.goal);
      const state = isDone ? "done" : now ? "later" : "now";
      if (!isDone) now = true;
      const item = el("steps").children[index];
      if (item && item.dataset.state !== state) item.dataset.state = state;
    });
  }

  // MARK: Moments

  function shown() {
    if (moment === null) return newest;
    let at = history.length - 1;
    while (at > 0 && history[at].t > moment) at -= 1;
    return history[at] ?? null;
  }

  /** The state of a moment, the device between two states in between. */
  function shownBetween() {
    const state = shown();
    if (moment === null || !state) return state;
    const next = history[history.indexOf(state) + 1];
    if (!next?.d || !state.d || next.t <= state.t) return state;
    const part = Math.min(1, Math.max(0, (moment - state.t) / (next.t - state.t)));
    const turn = ((next.d[3] - state.d[3] + 540) % 360) - 180;
    const d = state.d.map((value, axis) => value + part * (axis === 3 ? turn : next.d[axis] - value));
    return { ...state, d };
  }

  function pause(at) {
    moment = at;
    isPlaying = false;
    showPlayer();
  }

  function live() {
    moment = null;
    isPlaying = false;
    showPlayer();
    stale();
  }

  function showPlayer() {
    el("pause").textContent = moment === null ? "Pause" : "Live";
    el("replay").textContent = isPlaying ? "Stop" : "Replay";
    const back = moment === null || !newest ? 0 : Math.max(-KEPT, moment - newest.t);
    if (document.activeElement !== el("time") || moment === null || isPlaying) el("time").value = back;
    el("when").textContent = moment === null ? "live" : `−${Math.abs(back).toFixed(1)} s`;
    el("when").classList.toggle("live", moment === null);
  }

  el("pause").addEventListener("click", togglePause);
  el("replay").addEventListener("click", replay);
  el("time").addEventListener("input", () => {
    if (!newest) return;
    const back = Number(el("time").value);
    if (back >= -0.05) return live();
    pause(Math.max(newest.t + back, history[0]?.t ?? newest.t));
    stale();
  });

  function togglePause() {
    if (!newest) return;
    if (moment === null) pause(newest.t); else live();
    stale();
  }

  function replay() {
    if (!history.length) return;
    if (isPlaying) return pause(moment);
    const from = moment === null || moment > newest.t - 0.5 ? history[0].t : moment;
    pause(from);
    isPlaying = true;
    showPlayer();
  }

  // MARK: Drawing

  let lastFrame = 0;
  let lastCharts = 0;
  let said = "";
  let saidAt = 0;
  let spokenAt = 0;
  window.framesDrawn = 0;

  function frame(now) {
    const elapsed = Math.min(0.2, (now - lastFrame) / 1000);
    lastFrame = now;
    if (isPlaying && moment !== null && newest) {
      moment += elapsed;
      if (moment >= newest.t) live(); else showPlayer();
      isStale = true;
      chartsAreStale = true;
    }
    if (isStale) {
      isStale = false;
      draw(now);
      window.framesDrawn += 1;
    }
    if (chartsAreStale && now - lastCharts > 95) {
      chartsAreStale = false;
      lastCharts = now;
      drawCharts();
      if (moment !== null) showPlayer();
    }
    requestAnimationFrame(frame);
  }

  function draw(now) {
    const state = shownBetween();
    map.scene = scene(state);
    const isOutgrown = isFollowing && now - fittedAt > 1500 && (!setup.walls.length || isOutside(state?.d));
    if (state?.d && (!isFitted || isOutgrown)) {
      isFitted = true;
      fittedAt = now;
      map.fit();
    }
    map.draw();
    if (!state) return;
    coach(state, now);
    if (moment === null) markSteps(state);
  }

  function isOutside(place) {
    if (!place || map.view !== "plan") return false;
    const [x, y] = map.toPixels(place);
    return x < 10 || y < 10 || x > el("map").clientWidth - 10 || y > el("map").clientHeight - 10;
  }

  /** The flat, if there is one, and not all the places where a peer might be. */
  function bounds(device) {
    if (!setup.walls.length) return undefined;
    const xs = setup.walls.flatMap(wall => [wall[0], wall[2]]).concat(device[0]);
    const ys = setup.walls.flatMap(wall => [wall[1], wall[3]]).concat(device[1]);
    return [
      [Math.min(...xs) - 0.3, Math.min(...ys) - 0.3, Math.min(0, device[2])],
      [Math.max(...xs) + 0.3, Math.max(...ys) + 0.3, Math.max(2.5, device[2])],
    ];
  }

  const trail = { x: new Float64Array(800), y: new Float64Array(800), z: new Float64Array(800) };

  function scene(state) {
    const walls = setup.walls.concat(wallInHand ? [wallInHand] : [], setup.people.flatMap(outline));
    if (!state?.d) return { paths: [], device: null, peers: [], walls };
    let count = 0;
    for (const past of history) {
      if (!past.d || past.t > state.t || count >= trail.x.length - 1) continue;
      trail.x[count] = past.d[0];
      trail.y[count] = past.d[1];
      trail.z[count] = past.d[2];
      count += 1;
    }
    trail.x[count] = state.d[0];
    trail.y[count] = state.d[1];
    trail.z[count] = state.d[2];
    count += 1;
    return {
      paths: [{
        x: trail.x.subarray(0, count), y: trail.y.subarray(0, count), z: trail.z.subarray(0, count),
        colour: theme() === "dark" ? "#93a0ad" : "#6b7683", dash: [], width: 2, label: "way of the last minute", end: undefined,
      }],
      device: { x: state.d[0], y: state.d[1], z: state.d[2], heading: state.d[3] },
      peers: state.p.map((peer, index) => ({
        name: setup.peers[index] ?? "", colour: colour(index), isChosen: index === focus,
        place: peer.m ?? null, covariance: peer.c ?? [0, 0, 0, 0, 0, 0],
        isConverged: peer.s === "converged", truth: peer.k ?? null,
        // Of peers that were not chosen the improbable places are left out: ten rings hide each other.
        modes: (peer.o ?? []).filter((_, rank) => index === focus || rank < 3)
          .map(mode => ({ weight: mode.w, mean: mode.m, covariance: mode.c })),
      })),
      walls,
      bounds: bounds(state.d),
    };
  }

  /** Somebody, seen from above. */
  function outline([x, y]) {
    const lines = [];
    const corner = at => [x + 0.22 * Math.cos(at * Math.PI / 4), y + 0.22 * Math.sin(at * Math.PI / 4)];
    for (let at = 0; at < 8; at += 1) lines.push([...corner(at), ...corner(at + 1)]);
    return lines;
  }

  function coach(state, now) {
    const text = state.p[focus]?.say ?? "";
    // Figures that change many times a second cannot be read.
    if (text && text !== said && (now - saidAt > 350 || !said)) {
      said = text;
      saidAt = now;
      el("say").textContent = text;
    }
    if (said && el("spoken").textContent !== said && now - spokenAt > 5000) {
      spokenAt = now;
      el("spoken").textContent = said;
    }
  }

  const WORDS = { unknown: "no range", notConverged: "searching", converged: "found" };

  function drawCharts() {
    ink = inks();
    const state = shown();
    const end = state?.t ?? 0;
    const rows = el("peers").children;
    for (let index = 0; index < rows.length; index += 1) {
      const peer = state?.p[index];
      const row = rows[index];
      row.swatch.style.background = colour(index);
      const status = peer?.s ?? "unknown";
      let text = peer?.b && status !== "converged" ? "blocked" : WORDS[status] ?? status;
      if (peer && peer.d !== null && peer.d !== undefined) text += ` · ${peer.d.toFixed(1)} ± ${(2 * peer.ds).toFixed(1)} m`;
      if (row.figure.textContent !== text) row.figure.textContent = text;
      if (row.figure.className !== status) row.figure.className = status;
      ribbon(row.ribbon, index, end);
    }
    distanceChart(end);
    sigmaChart(end);
  }

  function prepared(canvas) {
    const ratio = window.devicePixelRatio || 1;
    const [width, height] = [canvas.clientWidth, canvas.clientHeight];
    if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    return [pen, width, height];
  }

  function ribbon(canvas, index, end) {
    const [pen, width, height] = prepared(canvas);
    for (let at = 0; at < history.length; at += 1) {
      const past = history[at];
      if (past.t > end) break;
      const peer = past.p[index];
      if (!peer) continue;
      const left = width * (1 - (end - past.t) / span(end));
      if (left < -2) continue;
      // As wide as the gap to the next, which is long where no poses came.
      const next = Math.min(history[at + 1]?.t ?? past.t + 0.1, past.t + 0.5);
      const share = peer.s === "converged" ? 1
        : peer.s === "unknown" || peer.w === null ? 0.15
        : Math.min(0.85, Math.max(0.2, 0.2 + 0.65 * (1 - Math.log(peer.w / peer.q) / Math.log(30))));
      pen.fillStyle = peer.s === "converged" ? ink.good : peer.s === "unknown" ? ink.soft : ink.warn;
      pen.fillRect(left, height * (1 - share), Math.max(1, width * (next - past.t) / span(end) + 0.5), height * share);
    }
  }

  /** How many seconds are drawn: all there are, up to a minute. */
  const span = end => Math.min(KEPT, Math.max(20, end - (history[0]?.t ?? end)));

  function axes(pen, width, height, ticks, place, unit, end) {
    pen.font = "11px system-ui, sans-serif";
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    for (const tick of ticks) {
      const y = place(tick);
      pen.strokeStyle = ink.grid;
      pen.lineWidth = 1;
      pen.beginPath();
      pen.moveTo(LEFT, Math.round(y) + 0.5);
      pen.lineTo(width, Math.round(y) + 0.5);
      pen.stroke();
      pen.fillStyle = ink.soft;
      pen.fillText(`${tick}${unit}`, LEFT - 5, y);
    }
    pen.textBaseline = "alphabetic";
    pen.textAlign = "center";
    const step = span(end) > 30 ? 15 : 5;
    for (let back = step; back < span(end) - step / 3; back += step) {
      pen.fillText(`−${back} s`, LEFT + (width - LEFT) * (1 - back / span(end)), height - 2);
    }
  }

  const LEFT = 40;
  const FOOT = 16;

  function distanceChart(end) {
    const [pen, width, height] = prepared(el("distance"));
    const rows = [];
    let most = 2;
    for (const past of history) {
      if (past.t > end || end - past.t > KEPT) continue;
      const peer = past.p[focus];
      if (!peer) continue;
      const truth = peer.k && past.d ? Math.hypot(peer.k[0] - past.d[0], peer.k[1] - past.d[1], peer.k[2] - past.d[2]) : null;
      rows.push({ t: past.t, d: peer.d, s: peer.ds, x: peer.x, truth });
      for (const value of [peer.d, truth]) if (value !== null && value > most) most = value;
      if (peer.x !== null && peer.x < 3 * most && peer.x > most) most = peer.x;
    }
    most *= 1.15;
    const step = [0.5, 1, 2, 5, 10, 20, 50, 100, 200].find(step => most / step <= 5) ?? 500;
    const ticks = [];
    for (let tick = 0; tick <= most; tick += step) ticks.push(tick);
    const y = value => 6 + (height - FOOT - 6) * (1 - value / most);
    const x = time => LEFT + (width - LEFT) * (1 - (end - time) / span(end));
    axes(pen, width, height, ticks, y, " m", end);
    pen.save();
    pen.beginPath();
    pen.rect(LEFT, 0, width - LEFT, height - FOOT + 2);
    pen.clip();
    pen.fillStyle = ink.accent;
    pen.globalAlpha = 0.22;
    let run = [];
    const flush = () => {
      if (run.length > 1) {
        pen.beginPath();
        run.forEach((row, at) => pen[at ? "lineTo" : "moveTo"](x(row.t), y(row.d + 2 * row.s)));
        for (const row of run.toReversed()) pen.lineTo(x(row.t), y(row.d - 2 * row.s));
        pen.fill();
      }
      run = [];
    };
    for (const row of rows) if (row.d === null || row.s === null) flush(); else run.push(row);
    flush();
    pen.globalAlpha = 1;
    pen.fillStyle = ink.soft;
    let last = null;
    for (const row of rows) {
      if (row.x !== null && row.x !== last) pen.fillRect(x(row.t) - 1, y(row.x) - 1, 2, 2);
      last = row.x;
    }
    line(pen, rows, "truth", x, y, ink.soft, [4, 4], 1.5);
    line(pen, rows, "d", x, y, ink.accent, [], 2);
    pen.restore();
    for (const id of ["truth-key", "cross"]) el(id).hidden = !rows.some(row => row.truth !== null);
  }

  function line(pen, rows, key, x, y, colour, dash, width) {
    pen.strokeStyle = colour;
    pen.lineWidth = width;
    pen.setLineDash(dash);
    pen.beginPath();
    let isDown = false;
    for (const row of rows) {
      const value = row[key];
      if (value === null || value === undefined) {
        isDown = false;
        continue;
      }
      pen[isDown ? "lineTo" : "moveTo"](x(row.t), y(value));
      isDown = true;
    }
    pen.stroke();
    pen.setLineDash([]);
  }

  function sigmaChart(end) {
    const [pen, width, height] = prepared(el("sigma"));
    const [least, most] = [0.05, 20];
    const y = value => {
      const share = Math.log(Math.min(most, Math.max(least, value)) / least) / Math.log(most / least);
      return 6 + (height - FOOT - 6) * (1 - share);
    };
    const x = time => LEFT + (width - LEFT) * (1 - (end - time) / span(end));
    axes(pen, width, height, [0.1, 1, 10], y, " m", end);
    const rows = [];
    for (const past of history) {
      if (past.t > end || end - past.t > KEPT) continue;
      const peer = past.p[focus];
      if (peer) rows.push({ t: past.t, w: peer.w, q: peer.q > 0 ? peer.q : null });
    }
    line(pen, rows, "q", x, y, ink.soft, [4, 4], 1.5);
    line(pen, rows, "w", x, y, ink.accent, [], 2);
  }

  // MARK: Inputs

  const held = new Set();
  let isSending = false;
  let wish = null;
  let sentWish = "";

  async function send(input) {
    try {
      const answer = await fetch("input", { method: "POST", body: JSON.stringify(input) });
      if (!answer.ok) note(`the input was refused (${answer.status})`, true);
    } catch {
      note("the input did not arrive", true);
    }
  }

  /** Sends the newest wish when the one before it has arrived. */
  async function pump() {
    if (isSending) return;
    isSending = true;
    while (wish) {
      const input = wish;
      wish = null;
      await send(input);
    }
    isSending = false;
  }

  const AXES = {
    ArrowLeft: [-1, 0, 0], ArrowRight: [1, 0, 0], ArrowUp: [0, 1, 0], ArrowDown: [0, -1, 0],
    KeyA: [-1, 0, 0], KeyD: [1, 0, 0], KeyW: [0, 1, 0], KeyS: [0, -1, 0], KeyE: [0, 0, 1], KeyQ: [0, 0, -1],
    PageUp: [0, 0, 1], PageDown: [0, 0, -1],
  };

  function heldAxes() {
    const sum = [0, 0, 0];
    for (const key of held) AXES[key]?.forEach((value, axis) => { sum[axis] += value; });
    return sum.map(value => Math.max(-1, Math.min(1, value)));
  }

  function sendHeld(isRepeat) {
    const [x, y, up] = heldAxes();
    if (tool === "move" && (x || y)) return moveChosen(x, y);
    const input = { do: "walk", x, y, up, slow: held.has("Shift") };
    const text = JSON.stringify(input);
    if (text === sentWish && !(isRepeat && (x || y || up))) return;
    sentWish = text;
    wish = input;
    pump();
  }

  function moveChosen(x, y) {
    const place = newest?.p[focus]?.k ?? newest?.p[focus]?.m;
    if (!place) return;
    wish = { do: "movePeer", peer: focus, x: place[0] + 0.25 * x, y: place[1] + 0.25 * y };
    pump();
  }

  setInterval(() => { if (held.size) sendHeld(true); }, 200);

  const isTyping = event => event.target.matches?.("input, select, textarea") || event.ctrlKey || event.metaKey || event.altKey;

  window.addEventListener("keydown", event => {
    if (isTyping(event)) return;
    if (event.key === "Shift") held.add("Shift");
    // A button that has the focus keeps Space and Enter.
    const isOnButton = event.target.matches?.("button");
    if (setup.isWorld && AXES[event.code]) {
      held.add(event.code);
      sendHeld(false);
    } else if (event.code === "Space" && !isOnButton) {
      togglePause();
    } else if (event.code === "Enter" && !isOnButton && setup.isWorld) {
      useAhead();
    } else if (event.code === "KeyR") {
      replay();
    } else if (event.code === "KeyF") {
      isFollowing = true;
      map.fit();
      stale();
    } else if (setup.isWorld && /^Digit[1-6]$/.test(event.code)) {
      take(el("tools").children[Number(event.code.at(-1)) - 1].dataset.tool);
    } else return;
    event.preventDefault();
  });
  window.addEventListener("keyup", event => {
    held.delete(event.key === "Shift" ? "Shift" : event.code);
    if (setup.isWorld) sendHeld(false);
  });
  window.addEventListener("blur", () => {
    held.clear();
    if (setup.isWorld) sendHeld(false);
  });

  /** Uses the tool a metre ahead of the phone. */
  function useAhead() {
    if (!newest?.d) return;
    const [x, y, , degrees] = newest.d;
    const [dx, dy] = [Math.sin(degrees * Math.PI / 180), Math.cos(degrees * Math.PI / 180)];
    const [ax, ay] = [x + dx, y + dy];
    if (tool === "wall") send({ do: "wall", x: ax - dy, y: ay + dx, x2: ax + dy, y2: ay - dx });
    if (tool === "person") send({ do: "person", x: ax, y: ay });
    if (tool === "erase") send({ do: "erase", x: ax, y: ay });
    if (tool === "walk") send({ do: "go", x: x + 2 * dx, y: y + 2 * dy });
  }

  function take(name) {
    tool = name;
    el("map-box").dataset.tool = name;
    for (const button of el("tools").children) button.setAttribute("aria-pressed", String(button.dataset.tool === name));
  }

  for (const button of el("tools").children) button.addEventListener("click", () => take(button.dataset.tool));
  for (const [id, key] of [["raise", "KeyE"], ["lower", "KeyQ"]]) {
    const press = event => {
      if (event.type === "keydown" && event.code !== "Space" && event.code !== "Enter") return;
      held.add(key);
      sendHeld(false);
    };
    const release = () => {
      if (held.delete(key)) sendHeld(false);
    };
    el(id).addEventListener("pointerdown", press);
    el(id).addEventListener("keydown", press);
    for (const type of ["pointerup", "pointerleave", "pointercancel", "keyup", "blur"]) el(id).addEventListener(type, release);
  }

  // MARK: The mouse

  let pointer = null;
  let carried = -1;
  const box = el("map-box");

  function nearestPeer([x, y]) {
    let [best, distance] = [-1, 0.8];
    (newest?.p ?? []).forEach((peer, index) => {
      const place = peer.k ?? peer.m;
      const away = place ? Math.hypot(place[0] - x, place[1] - y) : Infinity;
      if (away < distance) [best, distance] = [index, away];
    });
    return best;
  }

  function takesPointer() {
    return setup.isWorld && tool !== "look" && map.view === "plan" && moment === null;
  }

  el("map").addEventListener("wheel", () => { isFollowing = false; }, { passive: true });
  el("map").addEventListener("pointerdown", () => { isFollowing = false; });

  // Before the map's own listeners, which drag and zoom.
  box.addEventListener("pointerdown", event => {
    if (!takesPointer() || event.button !== 0) return;
    event.stopPropagation();
    event.preventDefault();
    el("map").focus({ preventScroll: true });
    try { box.setPointerCapture(event.pointerId); } catch { /* a pointer that is gone already */ }
    pointer = event.pointerId;
    const place = map.placeAt(event.clientX, event.clientY);
    if (tool === "walk") {
      wish = { do: "go", x: place[0], y: place[1] };
      pump();
    } else if (tool === "move") {
      carried = nearestPeer(place);
      choose(carried);
    } else if (tool === "wall") {
      wallInHand = [place[0], place[1], place[0], place[1]];
    } else if (tool === "person") {
      send({ do: "person", x: place[0], y: place[1] });
    } else if (tool === "erase") {
      send({ do: "erase", x: place[0], y: place[1] });
    }
  }, true);

  box.addEventListener("pointermove", event => {
    if (pointer !== event.pointerId) return;
    event.stopPropagation();
    const [x, y] = map.placeAt(event.clientX, event.clientY);
    if (tool === "walk") {
      wish = { do: "go", x, y };
      pump();
    } else if (tool === "move" && carried >= 0) {
      wish = { do: "movePeer", peer: carried, x, y };
      pump();
    } else if (wallInHand) {
      const isAlongX = Math.abs(x - wallInHand[0]) >= Math.abs(y - wallInHand[1]);
      wallInHand = [wallInHand[0], wallInHand[1], isAlongX ? x : wallInHand[0], isAlongX ? wallInHand[1] : y];
      isStale = true;
    }
  }, true);

  function release(event) {
    if (pointer !== event.pointerId) return;
    event.stopPropagation();
    pointer = null;
    carried = -1;
    if (tool === "walk") {
      wish = { do: "walk", x: 0, y: 0, up: 0 };
      pump();
    }
    if (wallInHand) {
      const [x, y, x2, y2] = wallInHand;
      if (Math.hypot(x2 - x, y2 - y) > 0.2) send({ do: "wall", x, y, x2, y2 });
      wallInHand = null;
      isStale = true;
    }
  }
  box.addEventListener("pointerup", release, true);
  box.addEventListener("pointercancel", release, true);

  // MARK: Buttons

  for (const button of document.querySelectorAll("[data-view]")) {
    button.addEventListener("click", () => {
      map.view = button.dataset.view;
      for (const other of document.querySelectorAll("[data-view]")) other.setAttribute("aria-pressed", String(other === button));
      map.fit();
      stale();
    });
  }
  el("fit").addEventListener("click", () => {
    isFollowing = true;
    map.fit();
    stale();
  });

  let noteTimer = 0;
  function note(text, isBad) {
    el("note").textContent = text;
    el("note").classList.toggle("bad", isBad);
    clearTimeout(noteTimer);
    noteTimer = setTimeout(() => { el("note").textContent = ""; }, 12_000);
  }

  el("save").addEventListener("click", async () => {
    el("save").disabled = true;
    try {
      const answer = await fetch("save", { method: "POST" });
      const said = await answer.json();
      if (answer.ok) note(`Saved: ${said.folder}`, false); else note(said.error, true);
    } catch {
      note("the program does not answer", true);
    }
    el("save").disabled = false;
  });

  function setTheme(name) {
    document.documentElement.dataset.theme = name;
    el("theme").textContent = name === "dark" ? "Light" : "Dark";
    stale();
  }
  el("theme").addEventListener("click", () => setTheme(theme() === "dark" ? "light" : "dark"));
  setTheme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");

  new ResizeObserver(() => {
    if (isFitted) map.fit();
    stale();
  }).observe(box);
  showPlayer();
  connect();
  requestAnimationFrame(frame);
})();
