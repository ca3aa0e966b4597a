// SPDX-License-Identifier: Apache-2.0
// Draws the device, its paths and the peers on a canvas: as a plan, from the side and in three dimensions.
//
// The frame is that of a plan: x to the right, y ahead, z up, metres. A scene has
//   paths: [{ x, y, z, colour, dash, width, label, end }]  end: points that are in the past, all when undefined
//   device: { x, y, z, heading } or null                   heading: degrees from y towards x
//   peers: [{ name, colour, place, covariance, isConverged, truth, modes, isChosen }]
//   walls: [[x1, y1, x2, y2]]
//   bounds: [[x, y, z], [x, y, z]]                         what `fit` shows; computed when missing
// with covariances as [xx, xy, xz, yy, yz, zz], and modes as [{ weight, mean, covariance }] where there are several.
"use strict";
const nearbyMap = (() => {
  // The radii of the drawn ellipses: one standard deviation, and what holds 99.7 % of a plane.
  const radii = [3.4, 1];
  const nearlyUp = (89 * Math.PI) / 180;

  const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const cross = (a, b) => [
    a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const unit = (a) => { const n = Math.hypot(...a) || 1; return a.map((x) => x / n); };
  const isPlace = (p) => Array.isArray(p) && p.every(Number.isFinite);
  const clamp = (x, low, high) => Math.min(high, Math.max(low, x));
  const channels = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16));
  const faded = (hex, alpha) => `rgba(${channels(hex).join(",")},${alpha})`;

  // Half axes and direction of the one-sigma ellipse of [[xx, xy], [xy, yy]].
  function ellipse(xx, xy, yy) {
    const [mean, radius] = [(xx + yy) / 2, Math.hypot((xx - yy) / 2, xy)];
    return {
      major: Math.sqrt(Math.max(0, mean + radius)), minor: Math.sqrt(Math.max(0, mean - radius)),
      angle: radius > 0 ? Math.atan2(2 * xy, xx - yy) / 2 : 0,
    };
  }

  // A matrix L with P = L Lᵀ, by columns: it takes the unit sphere to the one-sigma ellipsoid.
  function cholesky([xx, xy, xz, yy, yz, zz]) {
    const a = Math.sqrt(Math.max(xx, 1e-8));
    const [b, c] = [xy / a, xz / a];
    const d = Math.sqrt(Math.max(yy - b * b, 1e-8));
    const e = (yz - b * c) / d;
    return [a, b, c, 0, d, e, 0, 0, Math.sqrt(Math.max(zz - c * c - e * e, 1e-8))];
  }

  const niceStep = (length) => {
    const power = 10 ** Math.floor(Math.log10(length));
    return [1, 2, 5, 10].map((n) => n * power).find((step) => step >= length * (1 - 1e-9));
  };

  function boundsOf(scene) {
    const [low, high] = [[Infinity, Infinity, Infinity], [-Infinity, -Infinity, -Infinity]];
    const note = (x, y, z, reach = 0) => {
      [x, y, z].forEach((value, i) => {
        if (!Number.isFinite(value)) return;
        low[i] = Math.min(low[i], value - reach), high[i] = Math.max(high[i], value + reach);
      });
    };
    for (const { x, y, z } of scene.paths ?? []) for (let i = 0; i < x.length; i += 1) note(x[i], y[i], z[i]);
    if (scene.device) note(scene.device.x, scene.device.y, scene.device.z);
    for (const [x1, y1, x2, y2] of scene.walls ?? []) note(x1, y1, 0), note(x2, y2, 0);
    for (const { place, truth, isConverged, covariance, modes } of scene.peers ?? []) {
      if (truth) note(...truth);
      if (place && isConverged) note(...place, Math.sqrt(covariance[0] + covariance[3]));
      for (const { mean, weight } of modes ?? []) if (weight > 0.02) note(...mean);
    }
    return Number.isFinite(low[0]) ? [low, high] : [[-5, -5, 0], [5, 5, 1]];
  }

  // ---- Three dimensions ---------------------------------------------------------------------------

  const lineShader = [`#version 300 es
    in vec2 corner; in vec3 from; in vec3 to; in vec4 colour; in float width;
    uniform mat4 clip; uniform vec2 size; out vec4 tint;
    void main() {
      vec4 a = clip * vec4(from, 1.0), b = clip * vec4(to, 1.0);
      float near = 0.05;
      if (a.w < near && b.w < near) { gl_Position = vec4(2.0, 2.0, 2.0, 1.0); return; }
      if (a.w < near) a = mix(a, b, (near - a.w) / (b.w - a.w));
      if (b.w < near) b = mix(b, a, (near - b.w) / (a.w - b.w));
      vec2 along = (b.xy / b.w - a.xy / a.w) * size;
      along = length(along) > 1e-6 ? normalize(along) : vec2(1.0, 0.0);
      vec4 end = corner.x < 0.5 ? a : b;
      end.xy += (vec2(-along.y, along.x) * corner.y * width / size) * end.w;
      gl_Position = end; tint = colour;
    }`, `#version 300 es
    precision mediump float; in vec4 tint; out vec4 pixel;
    void main() { pixel = vec4(tint.rgb * tint.a, tint.a); }`];
  // The rim of an ellipsoid is denser than its middle, so that what lies inside stays visible.
  const ballShader = [`#version 300 es
    in vec3 point; in vec3 l1; in vec3 l2; in vec3 l3; in vec3 centre; in vec4 colour;
    uniform mat4 clip; uniform vec3 eye; out vec4 tint;
    void main() {
      mat3 l = mat3(l1, l2, l3);
      vec3 world = centre + l * point;
      vec3 normal = normalize(transpose(inverse(l)) * point);
      float facing = abs(dot(normal, normalize(eye - world)));
      gl_Position = clip * vec4(world, 1.0);
      tint = vec4(colour.rgb, colour.a * (0.35 + 1.3 * pow(1.0 - facing, 2.0)));
    }`, `#version 300 es
    precision mediump float; in vec4 tint; out vec4 pixel;
    void main() { float a = min(tint.a, 0.9); pixel = vec4(tint.rgb * a, a); }`];

  class Graphics {
    // Throws where the browser has no WebGL 2.
    constructor() {
      this.canvas = document.createElement("canvas");
      const gl = this.canvas.getContext("webgl2", { antialias: true, premultipliedAlpha: true, preserveDrawingBuffer: true });
      if (!gl) throw new Error("no WebGL 2");
      this.gl = gl;
      this.lines = this.program(lineShader);
      this.balls = this.program(ballShader);
      const corners = new Float32Array([0, -1, 1, -1, 0, 1, 0, 1, 1, -1, 1, 1]);
      const ball = [];
      const [rings, sides] = [12, 20];
      const at = (i, j) => {
        const [a, b] = [(Math.PI * i) / rings, (2 * Math.PI * j) / sides];
        return [Math.sin(a) * Math.cos(b), Math.sin(a) * Math.sin(b), Math.cos(a)];
      };
      for (let i = 0; i < rings; i += 1) {
        for (let j = 0; j < sides; j += 1) {
          const [p, q, r, s] = [at(i, j), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)];
          ball.push(...p, ...q, ...r, ...r, ...q, ...s);
        }
      }
      this.lineParts = this.parts(this.lines, corners, "corner", 2, [["from", 3], ["to", 3], ["colour", 4], ["width", 1]]);
      this.ballParts = this.parts(this.balls, new Float32Array(ball), "point", 3,
        [["l1", 3], ["l2", 3], ["l3", 3], ["centre", 3], ["colour", 4]]);
    }

    program([vertex, fragment]) {
      const gl = this.gl;
      const program = gl.createProgram();
      for (const [kind, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
        const shader = gl.createShader(kind);
        gl.shaderSource(shader, source), gl.compileShader(shader), gl.attachShader(program, shader);
      }
      gl.linkProgram(program);
      if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program) ?? "no program");
      return program;
    }

    // A mesh that is drawn once for each row of numbers.
    parts(program, mesh, name, size, columns) {
      const gl = this.gl;
      const [array, fixed, rows] = [gl.createVertexArray(), gl.createBuffer(), gl.createBuffer()];
      gl.bindVertexArray(array);
      gl.bindBuffer(gl.ARRAY_BUFFER, fixed);
      gl.bufferData(gl.ARRAY_BUFFER, mesh, gl.STATIC_DRAW);
      const bind = (label, count, stride, offset, divisor) => {
        const place = gl.getAttribLocation(program, label);
        gl.enableVertexAttribArray(place);
        gl.vertexAttribPointer(place, count, gl.FLOAT, false, stride, offset);
        gl.vertexAttribDivisor(place, divisor);
      };
      bind(name, size, 0, 0, 0);
      gl.bindBuffer(gl.ARRAY_BUFFER, rows);
      const width = columns.reduce((sum, [, count]) => sum + count, 0);
      let offset = 0;
      for (const [label, count] of columns) bind(label, count, 4 * width, offset, 1), (offset += 4 * count);
      return { program, array, rows, width, count: mesh.length / size };
    }

    drawRows(parts, numbers, uniforms) {
      const gl = this.gl;
      if (!numbers.length) return;
      gl.useProgram(parts.program);
      gl.bindVertexArray(parts.array);
      gl.bindBuffer(gl.ARRAY_BUFFER, parts.rows);
      gl.bufferData(gl.ARRAY_BUFFER, numbers instanceof Float32Array ? numbers : new Float32Array(numbers), gl.STREAM_DRAW);
      for (const [name, value] of Object.entries(uniforms)) {
        const place = gl.getUniformLocation(parts.program, name);
        if (value.length === 16) gl.uniformMatrix4fv(place, false, value);
        else if (value.length === 3) gl.uniform3fv(place, value);
        else gl.uniform2fv(place, value);
      }
      gl.drawArraysInstanced(gl.TRIANGLES, 0, parts.count, numbers.length / parts.width);
    }

    draw(width, height, camera, lines, balls) {
      const gl = this.gl;
      if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
      gl.viewport(0, 0, width, height);
      gl.clearColor(0, 0, 0, 0);
      gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
      gl.enable(gl.DEPTH_TEST), gl.enable(gl.BLEND);
      gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
      gl.depthMask(true);
      this.drawRows(this.lineParts, lines, { clip: camera.clip, size: [width, height] });
      gl.depthMask(false);
      this.drawRows(this.ballParts, balls, { clip: camera.clip, eye: camera.eye });
      gl.depthMask(true);
    }
  }

  // The camera of an orbit, with the matrix from the map to clip space by columns.
  function cameraOf(orbit, aspect) {
    const { target, distance, yaw, pitch } = orbit;
    const back = [Math.cos(pitch) * Math.sin(yaw), -Math.cos(pitch) * Math.cos(yaw), Math.sin(pitch)];
    const eye = target.map((x, i) => x + distance * back[i]);
    const right = unit(cross([0, 0, 1], back));
    const up = cross(back, right);
    const focal = 1 / Math.tan((40 * Math.PI) / 360);
    const [near, far] = [distance / 100, distance * 20];
    const [a, b] = [(far + near) / (near - far), (2 * far * near) / (near - far)];
    const view = [right, up, back].map((axis) => [...axis, -dot(axis, eye)]);
    const rows = [
      view[0].map((x) => (x * focal) / aspect), view[1].map((x) => x * focal),
      view[2].map((x, i) => a * x + (i === 3 ? b : 0)), view[2].map((x) => -x),
    ];
    const clip = new Float32Array(16);
    for (let row = 0; row < 4; row += 1) for (let column = 0; column < 4; column += 1) clip[4 * column + row] = rows[row][column];
    return { eye, right, up, back, clip, rows };
  }

  // ---- The map ------------------------------------------------------------------------------------

  return (canvas, options = {}) => {
    const context = canvas.getContext("2d");
    const css = (name) => getComputedStyle(canvas).getPropertyValue(name).trim();
    let scene = { paths: [], device: null, peers: [], walls: [] };
    let view = "plan";
    let isDue = false;
    let isFitted = false;
    let graphics = null;
    let hovered = -1;
    // Pixels per metre and the middle of the plan and of the side; the camera of the third view.
    const flat = { plan: { scale: 20, middle: [0, 0] }, side: { scale: 20, middle: [0, 0] } };
    const orbit = { target: [0, 0, 0], distance: 20, yaw: -0.6, pitch: 0.75 };
    let marks = [];

    const width = () => canvas.clientWidth || 1;
    const height = () => canvas.clientHeight || 1;
    const isFlat = () => view !== "3d";
    const axes = () => (view === "side" ? [0, 2] : [0, 1]);

    function fit() {
      const [low, high] = scene.bounds ?? boundsOf(scene);
      for (const [name, [a, b]] of Object.entries({ plan: [0, 1], side: [0, 2] })) {
        const spans = [Math.max(high[a] - low[a], 1), Math.max(high[b] - low[b], 1)];
        flat[name].scale = Math.min((width() - 56) / spans[0], (height() - 56) / spans[1]);
        flat[name].middle = [(low[a] + high[a]) / 2, (low[b] + high[b]) / 2];
      }
      orbit.target = low.map((x, i) => (x + high[i]) / 2);
      const radius = 0.5 * Math.hypot(...sub(high, low));
      orbit.distance = Math.max(2, (2.1 * radius) / Math.min(1, Math.sqrt(width() / height())));
      isFitted = true;
      draw();
    }

    let camera = null;
    function toPixels(p) {
      if (isFlat()) {
        const [{ scale, middle }, [a, b]] = [flat[view], axes()];
        return [width() / 2 + (p[a] - middle[0]) * scale, height() / 2 - (p[b] - middle[1]) * scale];
      }
      const [x, y, , w] = camera.rows.map((row) => row[0] * p[0] + row[1] * p[1] + row[2] * p[2] + row[3]);
      return w > 0.02 ? [((x / w + 1) / 2) * width(), ((1 - y / w) / 2) * height()] : null;
    }

    // The place on the plan under a point of the screen.
    function placeAt(clientX, clientY) {
      const box = canvas.getBoundingClientRect();
      const [{ scale, middle }, x, y] = [flat[view === "side" ? "side" : "plan"], clientX - box.left, clientY - box.top];
      return [middle[0] + (x - width() / 2) / scale, middle[1] - (y - height() / 2) / scale];
    }

    // ---- Flat drawing

    // Points that are less than a pixel apart are left out.
    function strokePath(path, from, to) {
      const [{ scale, middle }, [a, b]] = [flat[view], axes()];
      const values = [path.x, path.y, path.z];
      const [u, v] = [values[a], values[b]];
      const [left, top] = [width() / 2 - middle[0] * scale, height() / 2 + middle[1] * scale];
      let [lastX, lastY, isDown] = [0, 0, false];
      context.beginPath();
      for (let i = from; i < to; i += 1) {
        const [x, y] = [left + u[i] * scale, top - v[i] * scale];
        if (!(Number.isFinite(x) && Number.isFinite(y))) { isDown = false; continue; }
        if (isDown && Math.abs(x - lastX) + Math.abs(y - lastY) < 0.8 && i + 1 < to) continue;
        if (isDown) context.lineTo(x, y);
        else context.moveTo(x, y);
        [lastX, lastY, isDown] = [x, y, true];
      }
      context.stroke();
    }

    function drawGrid() {
      const { scale, middle } = flat[view];
      const step = niceStep(64 / scale);
      context.lineWidth = 1;
      context.strokeStyle = css("--grid");
      context.fillStyle = css("--soft");
      context.font = "11px system-ui, sans-serif";
      context.textAlign = "center";
      context.beginPath();
      const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
      // Numbers come after the lines, which must not cross them.
      const numbers = [];
      const label = (value, x, y, align) => numbers.push([(Math.abs(value) < 1e-9 ? 0 : value).toFixed(decimals).replace("-", "−"), x, y, align]);
      for (let i = Math.ceil((middle[0] - width() / 2 / scale) / step); ; i += 1) {
        const x = Math.round(width() / 2 + (i * step - middle[0]) * scale) + 0.5;
        if (x > width()) break;
        context.moveTo(x, 0), context.lineTo(x, height());
        if (x > 44 && x < width() - 44) label(i * step, x, height() - 6, "center");
      }
      for (let i = Math.ceil((middle[1] - height() / 2 / scale) / step); ; i += 1) {
        const y = Math.round(height() / 2 - (i * step - middle[1]) * scale) + 0.5;
        if (y < 0) break;
        context.moveTo(0, y), context.lineTo(width(), y);
        if (y > 32 && y < height() - 24) label(i * step, 5, y - 4, "left");
      }
      context.stroke();
      const names = options.axes?.() ?? ["x", "y", "z"];
      const [a, b] = axes();
      numbers.push([`${names[b]} (m)`, 5, 13, "left"], [`${names[a]} (m)`, width() - 6, height() - 6, "right"]);
      context.lineWidth = 3, context.strokeStyle = css("--card"), context.lineJoin = "round";
      for (const [text, x, y, align] of numbers) {
        context.textAlign = align;
        context.strokeText(text, x, y), context.fillText(text, x, y);
      }
      context.textAlign = "left";
    }

    function strokeEllipse(mean, covariance, colour, alphas) {
      const [{ scale }, [x, y]] = [flat[view], toPixels(mean)];
      const [xx, xy, xz, yy, , zz] = covariance;
      const { major, minor, angle } = view === "side" ? ellipse(xx, xz, zz) : ellipse(xx, xy, yy);
      radii.forEach((radius, i) => {
        if (alphas[i] <= 0) return;
        context.beginPath();
        context.ellipse(x, y, Math.min(radius * major * scale, 1e5), Math.min(radius * minor * scale, 1e5), -angle, 0, 2 * Math.PI);
        context.fillStyle = faded(colour, alphas[i]);
        context.fill();
        context.setLineDash(i === 0 ? [3, 4] : []);
        context.strokeStyle = faded(colour, Math.min(1, 3.5 * alphas[i] + 0.15));
        context.lineWidth = 1.2;
        context.stroke();
        context.setLineDash([]);
      });
    }

    function drawFlat() {
      drawGrid();
      context.lineJoin = "round";
      for (const path of scene.paths) {
        const end = path.end ?? path.x.length;
        context.lineWidth = path.width ?? 2;
        context.setLineDash(path.dash ?? []);
        if (end < path.x.length) context.strokeStyle = faded(path.colour, 0.22), strokePath(path, Math.max(0, end - 1), path.x.length);
        context.strokeStyle = path.colour;
        strokePath(path, 0, end);
        context.setLineDash([]);
      }
      if (view === "plan") {
        context.strokeStyle = css("--ink"), context.lineWidth = 5;
        for (const [x1, y1, x2, y2] of scene.walls ?? []) {
          context.beginPath(), context.moveTo(...toPixels([x1, y1, 0])), context.lineTo(...toPixels([x2, y2, 0])), context.stroke();
        }
      }
      const most = scene.peers.length > 12;
      for (const peer of scene.peers) {
        const strength = peer.isChosen || !most ? 1 : 0.5;
        if (peer.modes?.length > 1) {
          const heaviest = Math.max(...peer.modes.map((mode) => mode.weight));
          for (const mode of peer.modes) {
            const share = mode.weight / heaviest;
            strokeEllipse(mode.mean, mode.covariance, peer.colour, [0, strength * (0.06 + 0.3 * share)]);
          }
        } else if (isPlace(peer.place)) {
          strokeEllipse(peer.place, peer.covariance, peer.colour, [0.06 * strength, 0.2 * strength]);
        }
      }
    }

    // ---- Drawing in space

    function drawSpace() {
      const ratio = canvas.width / width();
      camera = cameraOf(orbit, width() / height());
      const [low, high] = scene.bounds ?? boundsOf(scene);
      const [lines, balls] = [[], []];
      const line = (a, b, colour, alpha, thick) => lines.push(...a, ...b, ...channels(colour).map((c) => c / 255), alpha, thick * ratio);
      const ink = css("--ink"), soft = css("--soft");
      // The ground, and plumb lines from what floats above it.
      const ground = low[2] - Math.max(0.02 * (high[2] - low[2]), 0.02);
      const step = niceStep(Math.max(high[0] - low[0], high[1] - low[1], 1) / 12);
      const edge = (i) => [Math.floor(low[i] / step - 1), Math.ceil(high[i] / step + 1)];
      const [[x0, x1], [y0, y1]] = [edge(0), edge(1)];
      for (let i = x0; i <= x1; i += 1) line([i * step, y0 * step, ground], [i * step, y1 * step, ground], soft, 0.28, 1);
      for (let i = y0; i <= y1; i += 1) line([x0 * step, i * step, ground], [x1 * step, i * step, ground], soft, 0.28, 1);
      for (const path of scene.paths) {
        const end = path.end ?? path.x.length;
        const every = Math.max(1, Math.ceil(path.x.length / 20000));
        let before = null;
        for (let i = 0; i < path.x.length; i += every) {
          const place = [path.x[i], path.y[i], path.z[i]];
          const isDashGap = path.dash?.length && (i / every) % 4 >= 2;
          if (before && place.every(Number.isFinite) && !isDashGap) line(before, place, path.colour, i < end ? 1 : 0.25, (path.width ?? 2) * 1.1);
          before = place.every(Number.isFinite) ? place : null;
        }
      }
      for (const [ax, ay, bx, by] of scene.walls ?? []) {
        const top = Math.max(high[2], ground + 2);
        for (const z of [ground, top]) line([ax, ay, z], [bx, by, z], ink, 0.7, 2);
        for (const [x, y] of [[ax, ay], [bx, by]]) line([x, y, ground], [x, y, top], ink, 0.7, 2);
      }
      const ball = (mean, covariance, colour, radius, alpha) => balls.push(
        ...cholesky(covariance.map((x) => x * radius * radius)), ...mean, ...channels(colour).map((c) => c / 255), alpha);
      const plumb = (p, colour) => line(p, [p[0], p[1], ground], colour, 0.55, 1);
      for (const peer of scene.peers) {
        if (peer.modes?.length > 1) {
          const heaviest = Math.max(...peer.modes.map((mode) => mode.weight));
          for (const mode of peer.modes) ball(mode.mean, mode.covariance, peer.colour, 1, 0.08 + (0.3 * mode.weight) / heaviest);
        } else if (isPlace(peer.place)) {
          ball(peer.place, peer.covariance, peer.colour, 1, 0.35);
          ball(peer.place, peer.covariance, peer.colour, 3.4, 0.1);
          plumb(peer.place, peer.colour);
        }
      }
      const device = scene.device;
      if (device) {
        const place = [device.x, device.y, device.z];
        plumb(place, ink);
        const [s, c] = [Math.sin((device.heading * Math.PI) / 180), Math.cos((device.heading * Math.PI) / 180)];
        const size = orbit.distance / 70;
        const tip = [place[0] + 1.6 * size * s, place[1] + 1.6 * size * c, place[2]];
        for (const side of [-1, 1]) {
          const tail = [place[0] + size * (-s + side * c * 0.8), place[1] + size * (-c - side * s * 0.8), place[2]];
          line(tip, tail, ink, 1, 2.5), line(tail, place, ink, 1, 2.5);
        }
      }
      if (graphics === null) {
        try { graphics = options.withoutGraphics ? false : new Graphics(); } catch { graphics = false; }
      }
      if (graphics) {
        graphics.draw(canvas.width, canvas.height, camera, new Float32Array(lines), balls);
        context.drawImage(graphics.canvas, 0, 0, width(), height());
      } else {
        drawSpaceFlat(lines, ratio);
      }
    }

    // Without WebGL: the same lines, and ellipses for the ellipsoids.
    function drawSpaceFlat(lines, ratio) {
      for (let i = 0; i < lines.length; i += 11) {
        const [a, b] = [toPixels(lines.slice(i, i + 3)), toPixels(lines.slice(i + 3, i + 6))];
        if (!a || !b) continue;
        context.beginPath(), context.moveTo(...a), context.lineTo(...b);
        context.strokeStyle = `rgba(${lines.slice(i + 6, i + 9).map((x) => Math.round(255 * x)).join(",")},${lines[i + 9]})`;
        context.lineWidth = lines[i + 10] / ratio;
        context.stroke();
      }
      const shadow = (mean, covariance, colour, radius, alpha) => {
        const middle = toPixels(mean);
        if (!middle) return;
        // The outline of a small ellipsoid: its axes, projected.
        const l = cholesky(covariance.map((x) => x * radius * radius));
        let [xx, xy, yy] = [0, 0, 0];
        for (const column of [l.slice(0, 3), l.slice(3, 6), l.slice(6, 9)]) {
          const end = toPixels(mean.map((x, i) => x + 0.1 * column[i]));
          if (!end) return;
          const [dx, dy] = [10 * (end[0] - middle[0]), 10 * (end[1] - middle[1])];
          xx += dx * dx, xy += dx * dy, yy += dy * dy;
        }
        const { major, minor, angle } = ellipse(xx, xy, yy);
        context.beginPath(), context.ellipse(...middle, major, minor, angle, 0, 2 * Math.PI);
        context.fillStyle = faded(colour, alpha), context.fill();
        context.strokeStyle = faded(colour, 0.7), context.lineWidth = 1, context.stroke();
      };
      for (const peer of scene.peers) {
        if (peer.modes?.length > 1) for (const { mean, covariance, weight } of peer.modes) shadow(mean, covariance, peer.colour, 1, 0.05 + 0.3 * weight);
        else if (isPlace(peer.place)) shadow(peer.place, peer.covariance, peer.colour, 3.4, 0.08), shadow(peer.place, peer.covariance, peer.colour, 1, 0.25);
      }
    }

    // ---- Marks and names, above both

    // A name goes where it covers no other name and no mark; further off if need be.
    function drawNames(names, taken) {
      context.font = "600 12px system-ui, sans-serif";
      context.textBaseline = "middle";
      const overlaps = (a) => taken.some((b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]);
      for (const { text, at: [x, y], isChosen } of names) {
        const half = context.measureText(text).width / 2;
        let best = null;
        for (const far of [13, 26, 40]) {
          for (const [dx, dy] of [[1, -0.6], [-1, -0.6], [1, 0.7], [-1, 0.7], [0, -1.2], [0, 1.3]]) {
            const [cx, cy] = [x + dx * (far + (dx ? half - 4 : 0)), y + dy * far];
            const box = [cx - half - 2, cy - 8, cx + half + 2, cy + 8];
            if (box[0] < 2 || box[2] > width() - 2 || box[1] < 2 || box[3] > height() - 2 || overlaps(box)) continue;
            best = { box, cx, cy, far };
            break;
          }
          if (best) break;
        }
        if (!best) {
          if (!isChosen) continue;
          const cx = clamp(x, half + 4, width() - half - 4);
          best = { box: [0, 0, 0, 0], cx, cy: clamp(y - 14, 10, height() - 10), far: 13 };
        }
        taken.push(best.box);
        if (best.far > 13) {
          context.beginPath(), context.moveTo(x, y), context.lineTo(best.cx, best.cy);
          context.strokeStyle = css("--soft"), context.lineWidth = 1, context.stroke();
        }
        context.textAlign = "center";
        context.lineWidth = 3.5, context.strokeStyle = css("--card"), context.lineJoin = "round";
        context.strokeText(text, best.cx, best.cy);
        context.fillStyle = css("--ink"), context.fillText(text, best.cx, best.cy);
      }
      context.textAlign = "left", context.textBaseline = "alphabetic";
    }

    function drawMarks() {
      const [ink, card] = [css("--ink"), css("--card")];
      const [names, taken] = [[], []];
      marks = [];
      scene.peers.forEach((peer, index) => {
        if (isPlace(peer.truth)) {
          const at = toPixels(peer.truth);
          if (at) {
            taken.push([at[0] - 6, at[1] - 6, at[0] + 6, at[1] + 6]);
            context.strokeStyle = card, context.lineWidth = 5;
            for (const pass of [0, 1]) {
              context.beginPath();
              for (const [dx, dy] of [[5, 5], [5, -5]]) context.moveTo(at[0] - dx, at[1] - dy), context.lineTo(at[0] + dx, at[1] + dy);
              context.stroke();
              if (pass === 0) context.strokeStyle = ink, context.lineWidth = 2;
            }
          }
        }
        const isSplit = peer.modes?.length > 1;
        const spots = isSplit ? peer.modes.filter((mode) => mode.weight > 0.01) : isPlace(peer.place) ? [{ mean: peer.place, weight: 1 }] : [];
        spots.forEach((mode, i) => {
          const at = toPixels(mode.mean);
          if (!at || !at.every(Number.isFinite)) return;
          const size = isSplit ? 2 + 4 * Math.sqrt(mode.weight) : peer.isChosen || index === hovered ? 7 : 5.5;
          context.beginPath(), context.arc(...at, size, 0, 2 * Math.PI);
          context.fillStyle = peer.isConverged ? peer.colour : card, context.fill();
          context.lineWidth = peer.isConverged ? 1.5 : 2.5;
          context.strokeStyle = peer.isConverged ? card : peer.colour, context.stroke();
          marks.push({ index, at });
          if (i > 0) return;
          taken.push([at[0] - 7, at[1] - 7, at[0] + 7, at[1] + 7]);
          names.push({ text: peer.isConverged ? peer.name : `${peer.name} ?`, at, isChosen: peer.isChosen || index === hovered });
        });
      });
      const device = scene.device;
      const at = device && toPixels([device.x, device.y, device.z]);
      if (at && isFlat()) {
        context.save();
        context.translate(...at);
        context.beginPath();
        if (view === "plan") {
          context.rotate((device.heading * Math.PI) / 180);
          context.moveTo(0, -12), context.lineTo(8, 9), context.lineTo(0, 4.5), context.lineTo(-8, 9), context.closePath();
        } else context.arc(0, 0, 7, 0, 2 * Math.PI);
        context.fillStyle = ink, context.fill();
        context.lineWidth = 1.8, context.strokeStyle = card, context.stroke();
        context.restore();
        taken.push([at[0] - 9, at[1] - 9, at[0] + 9, at[1] + 9]);
      }
      names.sort((a, b) => Number(b.isChosen) - Number(a.isChosen));
      drawNames(names, taken);
    }

    function paint() {
      isDue = false;
      const ratio = window.devicePixelRatio || 1;
      const size = [Math.round(width() * ratio), Math.round(height() * ratio)];
      if (canvas.width !== size[0] || canvas.height !== size[1]) [canvas.width, canvas.height] = size;
      context.setTransform(ratio, 0, 0, ratio, 0, 0);
      context.clearRect(0, 0, width(), height());
      if (isFlat()) drawFlat();
      else drawSpace();
      drawMarks();
      options.onDraw?.();
    }

    function draw() {
      if (isDue) return;
      isDue = true;
      requestAnimationFrame(paint);
    }

    // ---- Moving the view

    function zoom(factor, x = width() / 2, y = height() / 2) {
      if (isFlat()) {
        const part = flat[view];
        const scale = clamp(part.scale * factor, 0.02, 20000);
        const share = 1 / part.scale - 1 / scale;
        part.middle = [part.middle[0] + (x - width() / 2) * share, part.middle[1] - (y - height() / 2) * share];
        part.scale = scale;
      } else orbit.distance = clamp(orbit.distance / factor, 0.2, 1e5);
      draw();
    }

    function pan(dx, dy) {
      if (isFlat()) {
        const part = flat[view];
        part.middle = [part.middle[0] - dx / part.scale, part.middle[1] + dy / part.scale];
      } else {
        const { right, up } = cameraOf(orbit, 1);
        const perPixel = (2 * orbit.distance * Math.tan((20 * Math.PI) / 180)) / height();
        orbit.target = orbit.target.map((x, i) => x + perPixel * (dy * up[i] - dx * right[i]));
      }
      draw();
    }

    function turn(dx, dy) {
      orbit.yaw -= dx * 0.008;
      orbit.pitch = clamp(orbit.pitch + dy * 0.008, -0.2, nearlyUp);
      draw();
    }

    const nearest = (event) => {
      const box = canvas.getBoundingClientRect();
      const [x, y] = [event.clientX - box.left, event.clientY - box.top];
      let [index, least] = [-1, 15];
      for (const mark of marks) {
        const away = Math.hypot(mark.at[0] - x, mark.at[1] - y);
        if (away < least) [index, least] = [mark.index, away];
      }
      return index;
    };

    const pointers = new Map();
    let travelled = 0;
    canvas.addEventListener("pointerdown", (event) => {
      if (options.onDown?.(event, nearest(event))) return;
      pointers.set(event.pointerId, [event.clientX, event.clientY]);
      travelled = 0;
      if (event.pointerType !== "touch") canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener("pointermove", (event) => {
      const before = pointers.get(event.pointerId);
      if (!before) {
        const index = nearest(event);
        if (index !== hovered) (hovered = index), (canvas.style.cursor = index >= 0 ? "pointer" : ""), draw();
        return;
      }
      const now = [event.clientX, event.clientY];
      const [dx, dy] = [now[0] - before[0], now[1] - before[1]];
      travelled += Math.abs(dx) + Math.abs(dy);
      if (pointers.size === 2) {
        const other = [...pointers].find(([id]) => id !== event.pointerId)[1];
        const length = (p) => Math.hypot(p[0] - other[0], p[1] - other[1]) || 1;
        const box = canvas.getBoundingClientRect();
        zoom(length(now) / length(before), (now[0] + other[0]) / 2 - box.left, (now[1] + other[1]) / 2 - box.top);
        pan(dx / 2, dy / 2);
      } else if (!isFlat() && !event.shiftKey && event.buttons !== 2) turn(dx, dy);
      else if (event.pointerType !== "touch" || !isFlat()) pan(dx, dy);
      pointers.set(event.pointerId, now);
    });
    const release = (event) => {
      if (!pointers.delete(event.pointerId) || event.type !== "pointerup" || travelled > 6) return;
      const index = nearest(event);
      if (index >= 0) options.onPick?.(index);
    };
    canvas.addEventListener("pointerup", release);
    canvas.addEventListener("pointercancel", release);
    canvas.addEventListener("contextmenu", (event) => { if (!isFlat()) event.preventDefault(); });
    // A wheel scrolls the page unless the map was clicked or a key is held.
    canvas.addEventListener("wheel", (event) => {
      if (!(event.ctrlKey || event.metaKey || document.activeElement === canvas)) return;
      event.preventDefault();
      const box = canvas.getBoundingClientRect();
      zoom(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0015)), event.clientX - box.left, event.clientY - box.top);
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      const step = 40;
      const moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
      if (options.onKey?.(event)) return event.preventDefault();
      if (event.key in moves) (isFlat() || event.shiftKey ? pan : turn)(...moves[event.key]);
      else if (event.key === "+" || event.key === "=") zoom(1.3);
      else if (event.key === "-") zoom(1 / 1.3);
      else if (event.key === "0" || event.key === "Home") fit();
      else return;
      event.preventDefault();
    });
    new ResizeObserver(() => (isFitted ? draw() : fit())).observe(canvas);

    return {
      get scene() { return scene; },
      set scene(value) { scene = value; draw(); },
      get view() { return view; },
      set view(value) { view = value; canvas.style.touchAction = isFlat() ? "pan-x pan-y" : "none"; draw(); },
      get usesGraphics() { return Boolean(graphics); },
      // The middle of a flat view and its pixels per metre.
      get window() { return { ...flat[view === "side" ? "side" : "plan"] }; },
      fit, draw, paint, zoom, pan, turn, placeAt, toPixels,
    };
  };
})();
