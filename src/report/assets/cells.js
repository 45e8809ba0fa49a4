// Sections about points with named coordinates: heat maps, densities, composition and flows.

const cells = data.cells || null;
const ROWS_FIRST = 40;
const signed = v => (v >= 0.05 ? '+' : v <= -0.05 ? '\u2212' : '') + Math.abs(v).toFixed(Math.abs(v) < 9.95 ? 1 : 0);
const percent = share => (100 * share).toFixed(share < 0.0995 ? 1 : 0) + '%';
const clusterColor = c => `--c${c % COLORS}`, stateColor = s => `--c${(s + 10) % COLORS}`;
const stateMix = s => `color-mix(in srgb, var(${stateColor(s)}) 75%, var(--paper))`;
function styled(node, style) {
  Object.assign(node.style, style);
  return node;
}
const soft = name => name.split(/(?<=_)/).flatMap((part, k) => k ? [make('wbr'), part] : [part]); // may break after "_"
const swatchOf = background => styled(make('span', { class: 'patch', 'aria-hidden': 'true' }), { background });

// A table with a row per coordinate and a column per cluster or state. The color shows the value.
function heatTable(columns, means, extra) {
  const most = Math.max(0.5, ...means.flat().map(Math.abs));
  const cell = v => {
    const share = Math.round(70 * Math.min(1, Math.abs(v) / most));
    return styled(make('td', { class: 'number' }, signed(v)),
      { background: `color-mix(in srgb, var(${v < 0 ? '--c0' : '--c1'}) ${share}%, var(--paper))` });
  };
  const rows = cells.names.map((name, a) => make('tr', a < ROWS_FIRST ? null : { hidden: '' },
    make('th', { scope: 'row' }, ...soft(name)), ...means.map(mean => cell(mean[a]))));
  const table = make('table', { class: 'grid heat' },
    make('thead', null, make('tr', null, make('td'), ...columns), ...(extra ? [extra] : [])), make('tbody', null, ...rows));
  if (rows.length <= ROWS_FIRST) return [table];
  const button = make('button', { click: () => { rows.forEach(row => row.removeAttribute('hidden')); button.remove(); } },
    `show all ${rows.length} coordinates`);
  return [table, button];
}
const head = (patch, name) => make('th', { scope: 'col' }, swatchOf(patch), ' ', ...soft(name));
function drawMarkerHeat() {
  byId('marker-heat').replaceChildren(...heatTable(
    cells.clusters.map(c => head(`var(${clusterColor(c.label)})`, data.names[c.label])), cells.clusters.map(c => c.means)));
}
function drawStateHeat() {
  const { states } = cells, shares = (name, list) => make('tr', null, make('th', { scope: 'row' }, ...soft(name)),
    ...list.map(share => make('td', { class: 'number' }, percent(share))));
  const table = heatTable(states.names.map((name, s) => head(stateMix(s), name)), states.means);
  const body = table[0].querySelector('tbody');
  body.prepend(shares('share, all items', states.share),
    ...cells.clusters.map(c => shares('share, ' + data.names[c.label], c.shares.map(v => v / 1000))));
  byId('state-heat').replaceChildren(...table);
}

// ---- densities, drawn from quantiles ----

// Mass of each bin between two quantiles, smoothed by a normal kernel.
function densityOf(quantiles, low, high, bins) {
  const mass = new Float64Array(bins), at = v => (v - low) / (high - low) * bins;
  for (let k = 0; k + 1 < quantiles.length; k++) {
    const own = cells.levels[k + 1] - cells.levels[k], from = at(quantiles[k]), to = Math.max(at(quantiles[k + 1]), from + 1e-9);
    for (let b = Math.max(0, Math.floor(from)); b < Math.min(bins, Math.ceil(to)); b++)
      mass[b] += own * (Math.min(to, b + 1) - Math.max(from, b)) / (to - from);
    if (from >= bins) mass[bins - 1] += own;
  }
  const WIDTH = 1.6, REACH = 5;
  return mass.map((_, b) => {
    let sum = 0, weight = 0;
    for (let o = Math.max(0, b - REACH); o <= Math.min(bins - 1, b + REACH); o++) {
      const w = Math.exp(-0.5 * ((o - b) / WIDTH) ** 2);
      sum += w * mass[o];
      weight += w;
    }
    return sum / weight;
  });
}
const drawing = document.createElement('template');
drawing.innerHTML = '<svg></svg>';
const graphic = (tag, attributes, ...children) => {
  const node = document.createElementNS(drawing.content.firstChild.namespaceURI, tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
};
const short = v => String(Number(v.toPrecision(3))).replace('-', '\u2212');
function densityFigure(row) {
  const BINS = 60, WIDE = 240, name = cells.names[cells.coordinates.indexOf(row.coordinate)] || '';
  const known = row.clusters.map((quantiles, k) => ({ quantiles, label: cells.clusters[k].label })).filter(c => c.quantiles);
  if (!known.length) return [];
  const RIDGE = known.length > 4 ? 24 : 36, low = Math.min(...known.map(c => c.quantiles[0])), high = Math.max(...known.map(c => c.quantiles[c.quantiles.length - 1]));
  const width = high > low ? high - low : 1, curves = known.map(c => densityOf(c.quantiles, low, low + width, BINS));
  const most = Math.max(...curves.map(c => Math.max(...c))) || 1, high2 = RIDGE * known.length + 14;
  const middle = c => c.quantiles[c.quantiles.length >> 1];
  const ridge = (c, k) => {
    const foot = 14 + RIDGE * (k + 1) - 3;
    const path = [...curves[k]].map((v, b) => `L${(WIDE * (b + 0.5) / BINS).toFixed(1)} ${(foot - (RIDGE + 6) * v / most).toFixed(1)}`).join('');
    const x = WIDE * (middle(c) - low) / width;
    return graphic('g', { class: 'c' + c.label % COLORS },
      graphic('path', { d: `M0 ${foot}${path}L${WIDE} ${foot}Z`, fill: 'currentColor', 'fill-opacity': 0.35, stroke: 'currentColor' }),
      graphic('path', { d: `M${x.toFixed(1)} ${foot - 8}V${foot}`, stroke: 'currentColor', 'stroke-width': 2 }));
  };
  const words = `${name}: ` + known.map(c => `median ${short(middle(c))} in ${data.names[c.label]}`).join(', ');
  return [make('figure', null, make('figcaption', null, ...soft(name)),
    graphic('svg', { viewBox: `0 0 ${WIDE} ${high2 + 14}`, role: 'img', 'aria-label': words }, ...known.map(ridge),
      graphic('text', { x: 0, y: high2 + 10 }, short(low)), graphic('text', { x: WIDE, y: high2 + 10, 'text-anchor': 'end' }, short(high))))];
}
function drawDensities() {
  const key = make('ul', { class: 'states' }, ...cells.clusters.filter((_, k) => cells.densities.some(row => row.clusters[k]))
    .map(c => make('li', null, swatchOf(`var(${clusterColor(c.label)})`), ' ' + data.names[c.label])));
  byId('densities').replaceChildren(key, make('div', { class: 'multiples' }, ...cells.densities.flatMap(densityFigure)));
}

// ---- composition of the items ----

const mix = cells && cells.states && byId('mix') ? (() => {
  const canvas = byId('mix'), said = byId('mix-said'), { states } = cells, STRIP = 8, HIGH = 180;
  let sorted = states.items, by = -1, at = -1, wide = 0;
  const total = item => item.shares.reduce((a, b) => a + b, 0) || 1;
  function draw() {
    const ratio = devicePixelRatio || 1, step = wide / sorted.length;
    wide = Math.max(canvas.parentNode.clientWidth, sorted.length);
    canvas.width = wide * ratio;
    canvas.height = HIGH * ratio;
    styled(canvas, { inlineSize: wide + 'px', blockSize: HIGH + 'px' });
    const paint = canvas.getContext('2d'), colors = states.names.map((_, s) => ink(stateColor(s)));
    paint.scale(ratio, ratio);
    sorted.forEach((item, k) => {
      const x = Math.round(k * wide / sorted.length), next = Math.round((k + 1) * wide / sorted.length);
      const own = Math.max(1, next - x - (step > 6 ? 1 : 0)), whole = total(item);
      paint.globalAlpha = 1;
      paint.fillStyle = label[item.row] === NONE ? ink('--none') : ink(clusterColor(label[item.row]));
      paint.fillRect(x, 0, own, STRIP);
      let y = STRIP + 2;
      const available = HIGH - y;
      item.shares.forEach((share, s) => {
        const size = available * share / whole;
        paint.globalAlpha = by < 0 || by === s ? 0.75 : 0.2;
        paint.fillStyle = colors[s];
        paint.fillRect(x, y, own, size);
        y += size;
      });
      if (k === at) {
        paint.globalAlpha = 1;
        paint.strokeStyle = ink('--ink');
        paint.lineWidth = 2;
        paint.strokeRect(x + 1, 1, Math.max(2, own - 2), HIGH - 2);
      }
    });
  }
  function say(k) {
    at = k;
    draw();
    const item = sorted[k];
    if (!item) return;
    const parts = [...item.shares.keys()].sort((a, b) => item.shares[b] - item.shares[a]).filter(s => item.shares[s] >= 5);
    said.textContent = `${nameOf(item.row)} (${label[item.row] === NONE ? 'in no cluster' : data.names[label[item.row]]}): ` +
      parts.map(s => `${states.names[s]} ${percent(item.shares[s] / total(item))}`).join(', ');
  }
  const itemAt = e => Math.min(sorted.length - 1, Math.max(0, Math.floor(e.offsetX * sorted.length / canvas.clientWidth)));
  canvas.addEventListener('pointermove', e => say(itemAt(e)));
  canvas.addEventListener('pointerleave', () => { at = -1; draw(); });
  canvas.addEventListener('click', e => openDrawer(sorted[itemAt(e)].row));
  canvas.addEventListener('keydown', e => {
    const keys = {
      ArrowRight: () => say(Math.min(sorted.length - 1, at + 1)), ArrowLeft: () => say(Math.max(0, at - 1)),
      Home: () => say(0), End: () => say(sorted.length - 1), Enter: () => { if (at >= 0) openDrawer(sorted[at].row); },
    };
    if (keys[e.key]) { e.preventDefault(); keys[e.key](); }
  });
  function choose(s) {
    by = by === s ? -1 : s;
    at = -1;
    sorted = by < 0 ? states.items : [...states.items].sort((a, b) => a.shares[by] / total(a) - b.shares[by] / total(b));
    drawStates();
    draw();
  }
  function drawStates() {
    const focused = document.activeElement && document.activeElement.dataset.state;
    byId('mix-states').replaceChildren(...states.names.map((name, s) => make('li', null,
      make('button', { 'aria-pressed': String(by === s), 'data-state': s, click: () => choose(s) },
        swatchOf(stateMix(s)), ` ${name}, ${percent(states.share[s])}`))));
    const again = focused === undefined ? null : byId('mix-states').querySelector(`[data-state="${focused}"]`);
    if (again) again.focus({ preventScroll: true });
  }
  addEventListener('resize', draw);
  addEventListener('beforeprint', draw);
  return { draw: () => { drawStates(); draw(); draw(); } };
})() : null;

// ---- flows ----

const sum = list => list.reduce((a, b) => a + b, 0);

// A flow diagram: mass[s][t] moves from state s of the left side to state t of the right side.
function flowFigure(mass, names, width) {
  const states = cells.states.names, n = states.length, whole = sum(mass.map(sum)) || 1, narrow = width < 540;
  const WIDE = narrow ? 360 : 640, SIDE = narrow ? 100 : 190, HIGH = 320, GAP = 6, BAR = 12, LEFT = SIDE, RIGHT = WIDE - SIDE - BAR;
  const out = mass.map(sum), into = out.map((_, t) => sum(mass.map(row => row[t])));
  const scale = (HIGH - GAP * n - 24) / whole;
  const starts = sizes => { let y = 22; return sizes.map(v => { const own = y; y += v * scale + GAP; return own; }); };
  const left = starts(out), right = starts(into), fromY = left.slice(), toY = right.slice(), bands = [];
  for (let s = 0; s < n; s++)
    for (let t = 0; t < n; t++) {
      const m = mass[s][t], size = m * scale;
      if (!m) continue;
      const a = fromY[s] + size / 2, b = toY[t] + size / 2, half = (LEFT + RIGHT) / 2;
      fromY[s] += size;
      toY[t] += size;
      bands.push(graphic('path', { d: `M${LEFT + BAR} ${a}C${half} ${a} ${half} ${b} ${RIGHT} ${b}`, fill: 'none', stroke: `var(${stateColor(s)})`,
        'stroke-width': Math.max(0.5, size), 'stroke-opacity': s === t ? 0.25 : 0.6 },
      graphic('title', {}, `${states[s]} to ${states[t]}: ${percent(m / whole)}`)));
    }
  const most = narrow ? 13 : 27, cut = name => name.length > most ? name.slice(0, most - 1) + '\u2026' : name;
  const stateWords = name => cut(narrow ? name.replace(/^(S\d+) \(.*/, '$1') : name);
  const side = (y, sizes, x, words, anchor) => sizes.flatMap((v, s) => v ? [
    graphic('rect', { x, y: y[s], width: BAR, height: Math.max(1, v * scale), fill: `var(${stateColor(s)})` }),
    ...(v * scale >= 9 ? [graphic('text', { x: words, y: y[s] + v * scale / 2 + 4, 'text-anchor': anchor }, stateWords(states[s]))] : [])] : []);
  const title = (x, name, anchor) => graphic('text', { x, y: 12, 'text-anchor': anchor, 'font-weight': 600 }, cut(name));
  return graphic('svg', { viewBox: `0 0 ${WIDE} ${HIGH + 4}`, role: 'img',
    'aria-label': `Transport of mass from ${names[0]} to ${names[1]}; the table lists the same numbers` },
  ...bands, ...side(left, out, LEFT, LEFT - 6, 'end'), ...side(right, into, RIGHT, RIGHT + BAR + 6, 'start'),
  title(LEFT + BAR, names[0], 'end'), title(RIGHT, names[1], 'start'));
}
const tableOf = (heads, rows) => make('table', null, make('thead', null, make('tr', null, ...heads.map(h => make('th', { scope: 'col' }, ...soft(h))))),
  make('tbody', null, ...rows));
const numberCell = words => make('td', { class: 'number' }, words);
function flowTable(mass) {
  const { names } = cells.states, whole = sum(mass.map(sum)) || 1, moves = [];
  mass.forEach((row, s) => row.forEach((m, t) => { if (s !== t && m / whole >= 0.001) moves.push([m, s, t]); }));
  moves.sort((a, b) => b[0] - a[0]);
  return tableOf(['from state', 'to state', 'mass'], [
    make('tr', null, make('td', { colspan: 2 }, 'stays in its state'), numberCell(percent(sum(mass.map((row, s) => row[s])) / whole))),
    ...moves.slice(0, 12).map(([m, s, t]) => make('tr', null, make('td', null, ...soft(names[s])), make('td', null, ...soft(names[t])), numberCell(percent(m / whole))))]);
}
function drawFlow() {
  const { from, to, mass } = cells.states.flows[byId('flow-pair').value];
  byId('flow').replaceChildren(flowFigure(mass, [data.names[from], data.names[to]], byId('flow').clientWidth));
  byId('flow-table').replaceChildren(flowTable(mass));
}

// Transport from the shares `from` to the shares `to` with the smallest sum of mass x distance. Shares that both sides have
// stay (distances are a metric), so mass moves from states with an excess to states that lack mass. Every step moves mass
// along a shortest path of the residual graph (Bellman and Ford).
function planBetween(from, to, distances) {
  const EPS = 1e-9, n = from.length, rest = from.map((v, s) => v - to[s]), kind = rest.map(v => Math.abs(v) > EPS ? Math.sign(v) : 0);
  const mass = from.map((v, s) => from.map((_, t) => s === t ? Math.min(v, to[s]) : 0));
  const costOf = (s, t) => kind[s] > 0 && kind[t] < 0 ? distances[s][t] : kind[s] < 0 && kind[t] > 0 && mass[t][s] > EPS ? -distances[t][s] : Infinity;
  for (let step = 0; step < 4 * n * n; step++) {
    const best = rest.map(v => v > EPS ? 0 : Infinity), before = best.map(() => -1);
    for (let round = 0, changed = true; changed && round < 2 * n; round++) {
      changed = false;
      for (let s = 0; s < n; s++)
        for (let t = 0; t < n; t++) {
          const way = best[s] + costOf(s, t);
          if (way < best[t] - EPS) { best[t] = way; before[t] = s; changed = true; }
        }
    }
    let end = -1;
    for (let t = 0; t < n; t++) if (rest[t] < -EPS && best[t] < Infinity && (end < 0 || best[t] < best[end])) end = t;
    if (end < 0) break;
    const path = [];
    for (let t = end; before[t] >= 0; t = before[t]) path.push([before[t], t]);
    const start = path[path.length - 1][0], backs = path.filter(([s]) => kind[s] < 0).map(([s, t]) => mass[t][s]);
    const size = Math.min(rest[start], -rest[end], ...backs);
    for (const [s, t] of path) if (kind[s] > 0) mass[s][t] += size; else mass[t][s] -= size;
    rest[start] -= size;
    rest[end] += size;
  }
  return mass;
}
function drawPair() {
  const { states } = cells, [a, b] = ['pair-from', 'pair-to'].map(id => states.items[byId(id).value]);
  const [from, to] = [a, b].map(item => item.shares.map(v => v / (sum(item.shares) || 1)));
  const mass = planBetween(from, to, states.distances), points = v => (v < -5e-4 ? '\u2212' : v > 5e-4 ? '+' : '') + percent(Math.abs(v));
  byId('pair-flow').replaceChildren(flowFigure(mass, [nameOf(a.row), nameOf(b.row)], byId('pair-flow').clientWidth));
  byId('pair-table').replaceChildren(flowTable(mass), tableOf(['share of', nameOf(a.row), nameOf(b.row), 'change'], states.names.map((name, s) =>
    make('tr', null, make('td', null, ...soft(name)), numberCell(percent(from[s])), numberCell(percent(to[s])), numberCell(points(to[s] - from[s]))))));
}
function compareButton(i, other) { // for the drawer: shows the transport between two items
  const at = cells && byId('pair') ? [i, other].map(row => cells.states.items.findIndex(item => item.row === row)) : [-1];
  return at.includes(-1) ? [] : [' ', make('button', { click: () => {
    ['pair-from', 'pair-to'].forEach((id, k) => { byId(id).value = at[k]; });
    drawPair();
    closeDrawer();
    byId('pair').scrollIntoView();
    byId('pair-from').focus({ preventScroll: true });
  } }, 'compare')];
}
function setUpPair() { // first, the two ends of the order
  const { items } = cells.states;
  for (const [id, chosen] of [['pair-from', 0], ['pair-to', items.length - 1]]) {
    byId(id).replaceChildren(...items.map((item, k) => make('option', { value: k }, nameOf(item.row))));
    byId(id).value = chosen;
    byId(id).addEventListener('change', drawPair);
  }
  drawPair();
}
function setUpCells() {
  if (!cells || !byId('marker-heat')) return;
  drawMarkerHeat();
  if (byId('densities')) drawDensities();
  if (!cells.states) return;
  drawStateHeat();
  if (mix) mix.draw();
  if (byId('pair')) {
    setUpPair();
    addEventListener('resize', drawPair);
  }
  if (!byId('flow-pair')) return;
  byId('flow-pair').replaceChildren(...cells.states.flows.map((f, k) => make('option', { value: k }, `${data.names[f.from]} to ${data.names[f.to]}`)));
  byId('flow-pair').addEventListener('change', drawFlow);
  addEventListener('resize', drawFlow);
  drawFlow();
}

// ---- order of the items ----

function orderFigure({ name, rho, mean, half }) {
  const WIDE = 240, HIGH = 90, low = Math.min(...mean.map((m, c) => m - half[c])), high = Math.max(...mean.map((m, c) => m + half[c]));
  const x = c => (WIDE * c / (mean.length - 1)).toFixed(1), y = v => (HIGH - 4 - (HIGH - 8) * (high > low ? (v - low) / (high - low) : 0.5)).toFixed(1);
  const line = list => list.map((v, c) => `${x(c)} ${y(v)}`).join('L');
  const band = 'M' + line(mean.map((m, c) => m + half[c])) + 'L' + mean.map((m, c) => `${x(c)} ${y(m - half[c])}`).reverse().join('L') + 'Z';
  const words = `${name}: from ${short(mean[0])} to ${short(mean[mean.length - 1])}, rank correlation ${rho.toFixed(2)}`;
  return make('figure', null, make('figcaption', null, ...soft(name), make('span', { class: 'faint' }, ` ${rho > 0 ? '+' : '\u2212'}${Math.abs(rho).toFixed(2)}`)),
    graphic('svg', { viewBox: `0 0 ${WIDE} ${HIGH + 16}`, role: 'img', 'aria-label': words },
      graphic('path', { d: band, class: 'c0', fill: 'currentColor', 'fill-opacity': 0.2 }),
      graphic('path', { d: 'M' + line(mean), class: 'c0', fill: 'none', stroke: 'currentColor', 'stroke-width': 1.5 }),
      graphic('text', { x: 0, y: HIGH + 12 }, `${short(low)} to ${short(high)}`)));
}
function setUpOrder() {
  if (byId('order-curves') && data.order) byId('order-curves').replaceChildren(...data.order.map(orderFigure));
}
