// SPDX-License-Identifier: Apache-2.0
// What all pages share: colours, numbers as text, and the page's data.
"use strict";
const nearbyView = (() => {
  // Okabe and Ito's colours, which are distinguishable with any colour vision; lighter on dark.
  const palettes = {
    light: ["#0072b2", "#c2500a", "#008a63", "#a8497f", "#946400", "#2a7fae", "#5a5a5a", "#7a3fbf"],
    dark: ["#56b4e9", "#ff8a4c", "#2fc79a", "#e39ac4", "#f0b429", "#9cd3f5", "#c2c2c2", "#b794f6"],
  };
  const isNumber = (x) => x !== null && x !== undefined && Number.isFinite(x);
  const text = (x, decimals, unit = "") => (isNumber(x) ? x.toFixed(decimals).replace("-", "−") + (unit && ` ${unit}`) : "–");

  // IEEE 754's numbers of 16 bits.
  const halves = (() => {
    const table = new Float32Array(65536);
    for (let i = 0; i < 65536; i += 1) {
      const [sign, exponent, fraction] = [i >> 15 ? -1 : 1, (i >> 10) & 31, i & 1023];
      table[i] = exponent === 31 ? NaN
        : exponent ? sign * 2 ** (exponent - 15) * (1 + fraction / 1024) : sign * 2 ** -14 * (fraction / 1024);
    }
    return table;
  })();

  // The numbers of a column: see ReportData.md.
  function column(bytes, { type, at, count, offset, step }) {
    switch (type) {
      case "f32": return new Float32Array(bytes.buffer, at, count);
      case "f16": return Float32Array.from(new Uint16Array(bytes.buffer, at, count), (i) => halves[i]);
      case "q16": return Float64Array.from(new Uint16Array(bytes.buffer, at, count), (i) => (i === 65535 ? NaN : offset + step * i));
      default: return Float32Array.from(bytes.subarray(at, at + count), (i) => (i === 255 ? NaN : i));
    }
  }

  // The page's data, its tables with columns of numbers.
  function read() {
    const report = JSON.parse(document.getElementById("data").textContent);
    const coded = document.getElementById("numbers")?.textContent.trim() ?? "";
    const binary = atob(coded);
    const bytes = new Uint8Array(binary.length);
    for (let i = 0; i < binary.length; i += 1) bytes[i] = binary.charCodeAt(i);
    const expand = (value) => {
      if (Array.isArray(value)) return value.map(expand);
      if (value === null || typeof value !== "object") return value;
      if (typeof value.type === "string" && "at" in value) return column(bytes, value);
      return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, expand(member)]));
    };
    return expand(report);
  }

  const element = (tag, attributes = {}, ...children) => {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name === "class") made.className = value;
      else if (name.startsWith("--")) made.style.setProperty(name, value);
      else if (value !== undefined && value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.filter((child) => child !== null && child !== undefined));
    return made;
  };

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

  function save(canvas, name) {
    canvas.toBlob((blob) => {
      const link = element("a", { download: name, href: URL.createObjectURL(blob) });
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 1000);
    });
  }

  return {
    palettes, isNumber, text, read, element, rowAt, save,
    prefersDark: () => matchMedia("(prefers-color-scheme: dark)").matches,
  };
})();
