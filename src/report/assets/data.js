// State and data of the page: labels for each K, names, columns, colors and shapes.
'use strict';
const byId = id => document.getElementById(id);
const data = JSON.parse(byId('data').textContent);
function bytes(text) {
  const raw = atob(text), out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out;
}
const words16 = text => new Uint16Array(bytes(text).buffer);
const words32 = text => new Uint32Array(bytes(text).buffer);
const floats = text => new Float32Array(bytes(text).buffer);
const n = data.n, NONE = 65535;
const place = data.x ? { x: words16(data.x), y: words16(data.y) } : null;
const next = data.next ? words16(data.next) : null, ambiguity = data.ambiguity ? bytes(data.ambiguity) : null;
const label = words16(data.label);
const isThere = i => place ? place.x[i] !== NONE : label[i] !== NONE;
const idOf = i => data.ids ? data.ids[i] : String(i);
const nameOf = i => (data.titles && data.titles[i]) || idOf(i);
const ambiguityOf = i => ambiguity[i] / 510;
const outliers = new Map(data.outliers || []);
const count = number => number.toLocaleString('en');

// Creates an element with attributes (`click` is a listener) and children (texts or elements).
function make(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (key === 'click') node.addEventListener('click', value);
    else if (value !== false && value !== undefined) node.setAttribute(key, value);
  }
  node.append(...children);
  return node;
}

// ---- labels for each K ----

function overlaps(of, count, other, otherCount) {
  const table = Array.from({ length: count }, () => new Uint32Array(otherCount));
  for (let i = 0; i < n; i++) if (of[i] !== NONE && other[i] !== NONE) table[of[i]][other[i]]++;
  return table;
}

// Gives each cluster the color of the chosen cluster with which it shares most items, so that
// colors stay stable.
function matchColors(table, known) {
  const pairs = [], color = new Array(table.length).fill(-1), taken = new Set();
  table.forEach((row, g) => row.forEach((shared, c) => { if (shared) pairs.push([shared, g, c]); }));
  pairs.sort((a, b) => b[0] - a[0]);
  for (const [, g, c] of pairs) if (color[g] < 0 && !taken.has(c)) { color[g] = c; taken.add(c); }
  let fresh = known;
  return color.map(c => c < 0 ? fresh++ : c);
}

// Names a cluster of another K after the chosen clusters: one of them, a part of one, or a mixture.
function nameByParts(row, table, g) {
  const size = row.reduce((a, b) => a + b, 0);
  const parts = [...row.keys()].sort((a, b) => row[b] - row[a]);
  const [first, second] = parts, whole = table.reduce((sum, other) => sum + other[first], 0);
  if (!size) return 'cluster ' + g;
  if (row[first] >= 0.8 * size) return (row[first] >= 0.8 * whole ? '' : 'part of ') + data.names[first];
  const rest = parts.filter(c => row[c] >= 0.1 * size).length - 2;
  return data.names[first] + ' + ' + data.names[second] + (rest > 0 ? ` + ${rest} more` : '');
}

function clusteringOf(k, of, isChosen) {
  if (isChosen) return { name: 'cluster', of, names: data.names, colors: data.names.map((_, c) => c), isChosen };
  const table = overlaps(of, k, label, data.names.length);
  return {
    name: 'cluster', of, names: table.map((row, g) => nameByParts(row, table, g)),
    colors: matchColors(table, data.names.length),
  };
}

// Cuts the tree into k clusters. Clusters that have merged by then get the same number.
function cutTree(k) {
  const names = data.names.length, top = data.names.map((_, c) => c), number = new Map();
  const root = c => { while (top[c] !== c) c = top[c]; return c; };
  data.tree.slice(0, names - k).forEach(([a, b], m) => { top.push(names + m); top[root(a)] = top[root(b)] = names + m; });
  const group = data.names.map((_, c) => {
    if (!number.has(root(c))) number.set(root(c), number.size);
    return number.get(root(c));
  });
  return Uint16Array.from(label, c => c === NONE ? NONE : group[c]);
}

// Lists every K with labels: those of the sweep or, without a sweep, the cuts of the tree.
const tried = data.sweep ? data.sweep.map(s => ({ ...s, labels: () => words16(s.label) }))
  : Array.from({ length: data.tree ? data.names.length - 1 : 1 }, (_, at) => {
    const k = data.tree ? at + 2 : data.names.length;
    return { k, labels: () => k < data.names.length ? cutTree(k) : label };
  });
const chosen = Math.max(0, tried.findIndex(s => s.k === data.names.length));
const clusterings = new Map([[chosen, clusteringOf(data.names.length, label, true)]]); // created on first use
function clustering() { // for the current K
  const { k, labels } = tried[state.at];
  if (!clusterings.has(state.at)) clusterings.set(state.at, clusteringOf(k, labels(), false));
  return clusterings.get(state.at);
}

// ---- columns to color by ----

// Divides a column with more than ten distinct numbers into eight bins of equal size.
function shadesOf(name, code, values) {
  const EIGHT = 8, numbers = values.map(Number);
  const sorted = Float64Array.from(code.filter(c => c !== NONE), c => numbers[c]).sort();
  const fence = Array.from({ length: EIGHT - 1 }, (_, b) => sorted[Math.floor((b + 1) * sorted.length / EIGHT)]);
  const fences = [...new Set(fence)].filter(f => f > sorted[0]);
  const of = Uint16Array.from(code, c => c === NONE ? NONE : fences.filter(f => numbers[c] >= f).length);
  const ends = [sorted[0], ...fences, sorted[sorted.length - 1]];
  const names = ends.slice(0, -1).map((low, b) => low.toPrecision(3) * 1 + ' to ' + ends[b + 1].toPrecision(3) * 1);
  const shade = b => names.length > 1 ? Math.round(b * (EIGHT - 1) / (names.length - 1)) : 0;
  return { name, of, names, colors: names.map((_, b) => b), shades: names.map((_, b) => shade(b)) };
}

const columns = [];
if (data.truth) columns.push({ name: 'class', values: data.classes, code: words16(data.truth) });
for (const c of data.columns || []) columns.push({ name: c.name, values: c.values, code: words16(c.code) });
function coloringOf(column) {
  const { name, values, code } = column;
  const isNumbers = values.length > 10 && values.every(v => v.trim() !== '' && isFinite(v));
  return isNumbers ? shadesOf(name, code, values)
    : { name, of: code, names: values, colors: values.map((_, v) => v) };
}
const colorings = new Map(); // by column index, created on first use
function coloring() { // the labels that determine the colors of the marks
  if (state.by < 0) return clustering();
  if (!colorings.has(state.by)) colorings.set(state.by, coloringOf(columns[state.by]));
  return colorings.get(state.by);
}
const columnText = (column, i) => column.code[i] === NONE ? '' : column.values[column.code[i]];

// ---- colors and shapes: 20 colors and 6 shapes, combined so that pairs repeat after 60 clusters
// ----

const COLORS = 20, SHAPES = 6;
const ink = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const colorOf = (by, g) => ink(g === NONE ? '--none' : by.shades ? '--s' + by.shades[g] : '--c' + by.colors[g] % COLORS);
const shapeOf = (by, g) => g === NONE || by.shades ? 0 : Math.floor(by.colors[g] / 10) % SHAPES;
const CORNERS = [ // of shapes 1 to 5, in units of the radius
  [-0.9, -0.9, 0.9, -0.9, 0.9, 0.9, -0.9, 0.9],
  [0, -1.35, 1.35, 0, 0, 1.35, -1.35, 0],
  [0, -1.3, 1.2, 0.9, -1.2, 0.9],
  [0, 1.3, 1.2, -0.9, -1.2, -0.9],
  [-0.4, -1.2, 0.4, -1.2, 0.4, -0.4, 1.2, -0.4, 1.2, 0.4, 0.4, 0.4, 0.4, 1.2, -0.4, 1.2, -0.4, 0.4, -1.2, 0.4, -1.2, -0.4, -0.4, -0.4],
];
function mark(paint, x, y, radius, shape) {
  if (!shape) {
    paint.moveTo(x + radius, y);
    paint.arc(x, y, radius, 0, 7);
    return;
  }
  const corners = CORNERS[shape - 1];
  for (let c = 0; c < corners.length; c += 2)
    paint[c ? 'lineTo' : 'moveTo'](x + radius * corners[c], y + radius * corners[c + 1]);
  paint.closePath();
}
function swatch(by, g) { // draws the mark of a cluster as on the map
  const SIDE = 28, canvas = make('canvas', { class: 'swatch', width: SIDE, height: SIDE, 'aria-hidden': 'true' });
  const paint = canvas.getContext('2d');
  paint.fillStyle = colorOf(by, g);
  paint.beginPath();
  mark(paint, SIDE / 2, SIDE / 2, SIDE / 3, shapeOf(by, g));
  paint.fill();
  return canvas;
}

// ---- small pictures: two cells per byte ----

const pictureSets = [data.pictures, data.large].filter(Boolean).map(set => ({
  side: set.side, cells: bytes(set.cells), at: set.rows ? new Map(set.rows.map((r, i) => [r, i])) : null,
}));
function picture(row, canvas = make('canvas', { class: 'picture' })) { // null if the item has no picture
  const set = pictureSets.findLast(s => s.at ? s.at.has(row) : isThere(row));
  if (!set) return null;
  const side = set.side, base = (set.at ? set.at.get(row) : row) * Math.ceil(side * side / 2);
  canvas.width = canvas.height = side;
  const paint = canvas.getContext('2d');
  paint.fillStyle = colorOf(clustering(), clustering().of[row]);
  for (let c = 0; c < side * side; c++) {
    const pair = set.cells[base + (c >> 1)], level = c & 1 ? pair & 15 : pair >> 4;
    if (!level) continue;
    paint.globalAlpha = level / 15;
    paint.fillRect(c % side, Math.floor(c / side), 1, 1);
  }
  return canvas;
}

// Computes the sum of the pictures and the size of each cluster.
function meanPictures(by) {
  const set = pictureSets.find(s => !s.at);
  if (!set) return null;
  const cells = set.side * set.side, width = Math.ceil(cells / 2), size = new Uint32Array(by.names.length);
  const sum = by.names.map(() => new Float64Array(cells));
  for (let i = 0; i < n; i++) {
    if (!isThere(i) || by.of[i] === NONE) continue;
    const to = sum[by.of[i]];
    size[by.of[i]]++;
    for (let c = 0; c < cells; c++) to[c] += c & 1 ? set.cells[i * width + (c >> 1)] & 15 : set.cells[i * width + (c >> 1)] >> 4;
  }
  return { side: set.side, size, sum };
}
function drawCells(side, values, above, below, words) { // values from -1 to 1
  const canvas = make('canvas', { class: 'picture', width: side, height: side, role: 'img', 'aria-label': words });
  const paint = canvas.getContext('2d'), most = values.reduce((a, v) => Math.max(a, Math.abs(v)), 0) || 1;
  values.forEach((v, c) => {
    paint.fillStyle = v < 0 ? below : above;
    paint.globalAlpha = Math.abs(v) / most;
    paint.fillRect(c % side, Math.floor(c / side), 1, 1);
  });
  return canvas;
}

// ---- selection on the page; all views watch it ----

const state = { at: chosen, by: -1, picked: null, legend: new Set(), found: null, marked: -1 };
const watchers = [];
function change(parts) {
  Object.assign(state, parts);
  for (const watcher of watchers) watcher(parts);
}
const isPicked = i => !state.picked || state.picked.has[i] === 1;
// Selects the items that pass a test. With null, nothing is selected.
function pick(test, words, parts) {
  let picked = null;
  if (test) {
    picked = { has: new Uint8Array(n), count: 0, words };
    for (let i = 0; i < n; i++) if (isThere(i) && test(i)) { picked.has[i] = 1; picked.count++; }
  }
  change({ picked, legend: new Set(), found: null, ...parts });
}
