// SPDX-License-Identifier: Apache-2.0
// Draws curves, bands and points over a common axis (most often time) on a canvas, decimated by zoom.
//
// A chart has
//   x: { label, unit, ticks }                time in seconds when missing; with ticks x is a logarithm
//   y: { label, unit, decimals, left, isLogarithmic, isSymmetric, includesZero, range, ticks: [[value, text]] }
//   parts: [{ kind, x, y, low, high, colour, alpha, width, dash, name, radius, isQuiet }]
// with the kinds line, steps, band, points, bars and level.
"use strict";
const nearbyChart = (() => {
  const margin = { right: 12, top: 10, bottom: 34 };
  const usualLeft = 58;
  const isNumber = Number.isFinite;
  const faded = (hex, alpha) => `rgba(${[1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16)).join(",")},${alpha})`;

  // The first index whose value is not below another one.
  function firstAt(values, value) {
    let [low, high] = [0, values.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (values[middle] < value) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  function ticksOf([low, high], count) {
    const rough = (high - low) / Math.max(1, count);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((n) => n * power).find((x) => x >= rough * (1 - 1e-9)) ?? rough;
    const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    const ticks = [];
    for (let i = Math.ceil(low / step - 1e-9); i * step <= high + 1e-9 * step; i += 1) {
      ticks.push([i * step, (Math.abs(i * step) < 1e-12 ? 0 : i * step).toFixed(decimals).replace("-", "−")]);
    }
    return ticks;
  }

  return (canvas, options) => {
    // Performance: axes and curves are drawn once, on a layer; what moves is drawn over a copy of it.
    const front = canvas.getContext("2d");
    const layer = document.createElement("canvas");
    let context = layer.getContext("2d");
    let isLayerStale = true;
    const css = (name) => getComputedStyle(canvas).getPropertyValue(name).trim();
    let chart = null;
    let isDue = false;
    let [hover, drag] = [null, null];
    // The vertical range, kept until data or window change.
    let range = null;

    const left = () => chart?.y.left ?? usualLeft;
    const width = () => canvas.clientWidth || 1;
    const height = () => canvas.clientHeight || 1;
    const innerWidth = () => Math.max(1, width() - left() - margin.right);
    const innerHeight = () => Math.max(1, height() - margin.top - margin.bottom);
    const span = () => options.window();
    const toX = (x) => left() + ((x - span()[0]) / (span()[1] - span()[0])) * innerWidth();
    const fromX = (px) => span()[0] + ((px - left()) / innerWidth()) * (span()[1] - span()[0]);
    const level = (y) => (chart.y.isLogarithmic ? Math.log10(Math.max(y, 1e-12)) : y);
    const toY = (y) => margin.top + (1 - (level(y) - range[0]) / (range[1] - range[0])) * innerHeight();

    // All that is drawn as a line counts; of bands, whose ends can be far off, what most of them reach.
    function fitted() {
      if (chart.y.range) return chart.y.range.map(level);
      const [from, to] = span();
      let [low, high] = [Infinity, -Infinity];
      const note = (y) => { if (isNumber(y)) (low = Math.min(low, level(y))), (high = Math.max(high, level(y))); };
      for (const part of chart.parts) {
        if (part.isQuiet) continue;
        if (part.kind === "level") { note(part.y); continue; }
        const [begin, end] = [Math.max(0, firstAt(part.x, from) - 1), Math.min(part.x.length, firstAt(part.x, to) + 1)];
        if (part.kind === "band") {
          for (const [values, share] of [[part.low, 0.05], [part.high, 0.95]]) {
            const seen = Array.from(values.slice(begin, end)).filter(isNumber).sort((a, b) => a - b);
            if (seen.length) note(seen[Math.min(seen.length - 1, Math.floor(share * seen.length))]);
          }
        } else for (let i = begin; i < end; i += 1) note(part.y[i]);
      }
      if (chart.y.includesZero) low = Math.min(low, 0);
      if (chart.y.isSymmetric) [low, high] = [-Math.max(-low, high), Math.max(-low, high)];
      if (!isNumber(low)) [low, high] = [0, 1];
      const pad = Math.max(0.06 * (high - low), chart.y.isLogarithmic ? 0.05 : 1e-3);
      return [chart.y.includesZero && low === 0 ? 0 : low - pad, high + pad];
    }

    // A path with at most four points for each column of pixels: first, least, greatest and last.
    function tracePath(xs, ys, isSteps, jump) {
      const [begin, end] = [Math.max(0, firstAt(xs, span()[0]) - 1), Math.min(xs.length, firstAt(xs, span()[1]) + 1)];
      let [isDown, column, first, low, high, last, lastValue] = [false, null, 0, 0, 0, 0, null];
      const put = (x, y) => { if (isDown) context.lineTo(x, y); else (context.moveTo(x, y)), (isDown = true); };
      const flush = () => {
        if (column === null) return;
        put(column, first);
        if (low !== high) put(column, low), put(column, high);
        put(column, last);
        column = null;
      };
      for (let i = begin; i < end; i += 1) {
        const value = ys[i];
        if (!isNumber(value) || (lastValue !== null && Math.abs(value - lastValue) > jump)) { flush(); isDown = false; }
        lastValue = isNumber(value) ? value : null;
        if (!isNumber(value)) continue;
        const [x, y] = [Math.round(toX(xs[i]) * 2) / 2, toY(value)];
        if (isSteps && isDown && column !== null) { const before = last; flush(); put(x, before); }
        if (x === column) (low = Math.min(low, y)), (high = Math.max(high, y)), (last = y);
        else flush(), ([column, first, low, high, last] = [x, y, y, y, y]);
      }
      flush();
    }

    function fillBand(part) {
      const [begin, end] = [Math.max(0, firstAt(part.x, span()[0]) - 1), Math.min(part.x.length, firstAt(part.x, span()[1]) + 1)];
      const every = Math.max(1, Math.floor((end - begin) / (2 * innerWidth())));
      context.fillStyle = faded(part.colour, part.alpha ?? 0.2);
      let run = [];
      const close = () => {
        if (run.length > 1) {
          context.beginPath();
          run.forEach(([x, , high]) => context.lineTo(x, high));
          run.reverse().forEach(([x, low]) => context.lineTo(x, low));
          context.fill();
        }
        run = [];
      };
      const limit = 4 * height();
      const bounded = (y) => Math.min(limit, Math.max(-limit, y));
      for (let i = begin; i < end; i += every) {
        if (isNumber(part.low[i]) && isNumber(part.high[i])) run.push([toX(part.x[i]), bounded(toY(part.low[i])), bounded(toY(part.high[i]))]);
        else close();
      }
      close();
    }

    function drawPart(part) {
      context.setLineDash(part.dash ?? []);
      context.lineWidth = part.width ?? 1.8;
      context.lineJoin = "round";
      context.strokeStyle = part.alpha !== undefined && part.kind !== "band" ? faded(part.colour, part.alpha) : part.colour;
      switch (part.kind) {
        case "band": fillBand(part); break;
        case "level":
          context.beginPath(), context.moveTo(left(), toY(part.y)), context.lineTo(width() - margin.right, toY(part.y)), context.stroke();
          break;
        case "points": {
          context.fillStyle = faded(part.colour, part.alpha ?? 0.5);
          const [begin, end] = [firstAt(part.x, span()[0]), firstAt(part.x, span()[1])];
          const size = part.radius ?? 1.6;
          // Points that would cover each other are drawn once.
          const seen = new Set();
          for (let i = begin; i < end; i += 1) {
            if (!isNumber(part.y[i])) continue;
            const [x, y] = [toX(part.x[i]), toY(part.y[i])];
            const cell = (Math.round(x) << 13) + Math.round(y);
            if (seen.has(cell)) continue;
            seen.add(cell);
            context.fillRect(x - size, y - size, 2 * size, 2 * size);
          }
          break;
        }
        case "bars": {
          context.fillStyle = part.colour;
          const foot = toY(0);
          part.x.forEach((x, i) => {
            if (!(part.high[i] > part.low[i])) return;
            const [from, to] = [toX(x), toX(x + part.barWidth)];
            context.fillRect(from + 0.5, toY(part.high[i]), Math.max(1, to - from - 1), Math.min(foot, toY(part.low[i])) - toY(part.high[i]));
          });
          break;
        }
        default:
          context.beginPath();
          tracePath(part.x, part.y, part.kind === "steps", part.jump ?? Infinity);
          context.stroke();
      }
      context.setLineDash([]);
    }

    function drawAxes() {
      context.font = "11px system-ui, sans-serif";
      context.fillStyle = css("--soft");
      context.strokeStyle = css("--grid");
      context.lineWidth = 1;
      context.textBaseline = "middle", context.textAlign = "right";
      const vertical = chart.y.ticks ?? (chart.y.isLogarithmic
        ? [-3, -2, -1, 0, 1, 2, 3, 4].flatMap((power) => (range[1] - range[0] > 2 ? [1] : [1, 2, 5]).map((n) => [n * 10 ** power, String(Number((n * 10 ** power).toPrecision(3)))]))
        : ticksOf(range, Math.max(2, innerHeight() / 42)));
      context.beginPath();
      for (const [value, label] of vertical) {
        const y = Math.round(toY(value)) + 0.5;
        if (y < margin.top - 1 || y > height() - margin.bottom + 1) continue;
        context.moveTo(left(), y), context.lineTo(width() - margin.right, y);
        context.fillText(label, left() - 6, y);
      }
      context.textAlign = "center";
      for (const [value, label] of chart.x?.ticks ?? ticksOf(span(), Math.max(2, innerWidth() / 90))) {
        if (value < span()[0] || value > span()[1]) continue;
        const x = Math.round(toX(value)) + 0.5;
        context.moveTo(x, margin.top), context.lineTo(x, height() - margin.bottom);
        context.fillText(label, x, height() - margin.bottom + 11);
      }
      context.stroke();
      context.fillText(chart.x?.label ?? "time (s)", left() + innerWidth() / 2, height() - 7);
      context.save();
      context.translate(11, margin.top + innerHeight() / 2), context.rotate(-Math.PI / 2);
      context.fillText(chart.y.label, 0, 0);
      context.restore();
      context.textAlign = "left", context.textBaseline = "alphabetic";
    }

    function paint() {
      isDue = false;
      if (!chart) return;
      const ratio = window.devicePixelRatio || 1;
      const size = [Math.round(width() * ratio), Math.round(height() * ratio)];
      if (canvas.width !== size[0] || canvas.height !== size[1]) {
        [canvas.width, canvas.height] = size, [layer.width, layer.height] = size, (isLayerStale = true);
      }
      range ??= fitted();
      if (isLayerStale) drawLayer(ratio);
      context = front;
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.clearRect(0, 0, ...size);
      context.drawImage(layer, 0, 0);
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.save();
      context.beginPath(), context.rect(left(), margin.top, innerWidth(), innerHeight()), context.clip();
      const now = options.now?.();
      if (isNumber(now)) {
        context.strokeStyle = css("--accent"), context.lineWidth = 1.5;
        context.beginPath(), context.moveTo(toX(now), margin.top), context.lineTo(toX(now), height() - margin.bottom), context.stroke();
      }
      if (drag) {
        context.fillStyle = css("--band");
        context.fillRect(Math.min(drag[0], drag[1]), margin.top, Math.abs(drag[1] - drag[0]), innerHeight());
      }
      context.restore();
      if (hover !== null && !drag) drawReadout();
    }

    function drawLayer(ratio) {
      isLayerStale = false;
      context = layer.getContext("2d");
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width(), height());
      drawAxes();
      context.save();
      context.beginPath(), context.rect(left(), margin.top, innerWidth(), innerHeight()), context.clip();
      chart.parts.forEach(drawPart);
      context.restore();
    }

    // The values of all named curves at the pointer.
    function drawReadout() {
      const x = fromX(hover);
      const shown = chart.x?.ticks ? Number((10 ** x).toPrecision(2)) : x.toFixed(1);
      const rows = [[`${shown} ${chart.x?.unit ?? "s"}`, css("--soft")]];
      for (const part of chart.parts) {
        if (!part.name || !part.y || part.kind === "level") continue;
        const after = firstAt(part.x, x);
        const i = after > 0 && (after >= part.x.length || x - part.x[after - 1] < part.x[after] - x) ? after - 1 : after;
        if (i < 0 || !isNumber(part.y[i])) continue;
        rows.push([`${part.name} ${part.y[i].toFixed(chart.y.decimals ?? 2).replace("-", "−")} ${chart.y.unit ?? ""}`, part.colour]);
      }
      context.font = "12px system-ui, sans-serif";
      const wide = Math.max(...rows.map(([text]) => context.measureText(text).width)) + 16;
      const start = hover + wide + 14 > width() ? hover - wide - 8 : hover + 8;
      context.strokeStyle = css("--soft"), context.lineWidth = 1;
      context.beginPath(), context.moveTo(hover, margin.top), context.lineTo(hover, height() - margin.bottom), context.stroke();
      context.fillStyle = css("--card"), context.strokeStyle = css("--rule");
      context.fillRect(start, margin.top + 4, wide, rows.length * 17 + 8), context.strokeRect(start, margin.top + 4, wide, rows.length * 17 + 8);
      rows.forEach(([text, colour], i) => {
        context.fillStyle = colour, context.fillRect(start + 5, margin.top + 11 + 17 * i, 3, 11);
        context.fillStyle = css("--ink"), context.fillText(text, start + 12, margin.top + 20 + 17 * i);
      });
    }

    function draw() {
      if (isDue) return;
      isDue = true;
      requestAnimationFrame(paint);
    }

    const local = (event) => Math.min(width() - margin.right, Math.max(left(), event.clientX - canvas.getBoundingClientRect().left));
    canvas.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "touch" || event.button !== 0) return;
      drag = [local(event), local(event)];
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      hover = local(event);
      if (drag) drag[1] = hover;
      draw();
    });
    canvas.addEventListener("pointerleave", () => { hover = null; draw(); });
    canvas.addEventListener("pointerup", (event) => {
      const dragged = drag;
      drag = null;
      if (!dragged || Math.abs(dragged[1] - dragged[0]) < 6) options.onTime?.(fromX(local(event)));
      else options.setWindow?.([fromX(Math.min(...dragged)), fromX(Math.max(...dragged))]);
      draw();
    });
    canvas.addEventListener("dblclick", () => options.setWindow?.(null));
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || !options.setWindow) return;
      const [from, to] = span();
      const [middle, half] = [(from + to) / 2, (to - from) / 2];
      if (event.key === "+" || event.key === "=") options.setWindow([middle - half / 1.5, middle + half / 1.5]);
      else if (event.key === "-") options.setWindow([middle - half * 1.5, middle + half * 1.5]);
      else if (event.key === "ArrowLeft") options.setWindow([from - half / 4, to - half / 4]);
      else if (event.key === "ArrowRight") options.setWindow([from + half / 4, to + half / 4]);
      else if (event.key === "0" || event.key === "Home" || event.key === "Escape") options.setWindow(null);
      else return;
      event.preventDefault();
    });
    new ResizeObserver(draw).observe(canvas);

    return {
      get chart() { return chart; },
      set chart(value) { chart = value; range = null; isLayerStale = true; draw(); },
      // To be called when the shared window has changed.
      refit() { range = null; isLayerStale = true; draw(); },
      get range() { return range; },
      toX, draw, paint,
    };
  };
})();
