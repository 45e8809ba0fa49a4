// The map of the report: pan, zoom, hover, filter. No library, no network.
'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const bytes = text => Uint8Array.from(atob(text), c => c.charCodeAt(0));
  const words16 = text => new Uint16Array(bytes(text).buffer);
  const label = words16(data.label), n = data.n, NONE = 65535;
  const truth = data.truth ? words16(data.truth) : null;
  const idOf = i => data.ids ? data.ids[i] : String(i);
  const styles = () => getComputedStyle(document.documentElement);
  const COLOURS = 10;
  const colourOf = c => styles().getPropertyValue(c === NONE ? '--none' : '--c' + c % COLOURS).trim();

  // ---- small pictures: two cells a byte ----
  const sets = [data.pictures, data.large].filter(Boolean).map(set => ({
    side: set.side, cells: bytes(set.cells), at: set.rows ? new Map(set.rows.map((r, i) => [r, i])) : null,
  }));
  function picture(canvas, row, colour) {
    const set = sets.findLast(s => s.at ? s.at.has(row) : row < n && label[row] !== NONE);
    if (!set) return false;
    const side = set.side, size = Math.ceil(side * side / 2);
    const base = (set.at ? set.at.get(row) : row) * size;
    canvas.width = canvas.height = side;
    const paint = canvas.getContext('2d');
    paint.fillStyle = colour;
    for (let c = 0; c < side * side; c++) {
      const pair = set.cells[base + (c >> 1)], level = c & 1 ? pair & 15 : pair >> 4;
      if (!level) continue;
      paint.globalAlpha = level / 15;
      paint.fillRect(c % side, Math.floor(c / side), 1, 1);
    }
    return true;
  }
  const pictures = () => {
    for (const canvas of document.querySelectorAll('canvas[data-row]')) {
      const row = Number(canvas.dataset.row);
      if (!picture(canvas, row, colourOf(label[row]))) canvas.hidden = true;
    }
  };
  pictures();

  const view = document.getElementById('view');
  const dark = matchMedia('(prefers-color-scheme: dark)');
  if (!view) {
    dark.addEventListener('change', pictures);
    return;
  }

  // ---- the map ----
  const x = words16(data.x), y = words16(data.y), SPAN = 65535;
  const tip = document.getElementById('tip'), said = document.getElementById('said');
  const search = document.getElementById('search'), by = document.getElementById('by');
  const hidden = new Set();
  let camera = { x: SPAN / 2, y: SPAN / 2, zoom: 1 }, marked = -1, matches = null, waiting = false;
  const groupOf = i => by && by.value === 'class' ? truth[i] : label[i];
  const shown = i => label[i] !== NONE && !hidden.has(label[i]) && (!matches || matches[i]);
  const scale = () => camera.zoom * 0.95 * Math.min(view.clientWidth, view.clientHeight) / SPAN;
  const toScreen = i => {
    const s = scale();
    return [view.clientWidth / 2 + s * (x[i] - camera.x), view.clientHeight / 2 - s * (y[i] - camera.y)];
  };

  // Items by cell, so that the pointer finds its item among 70,000 at once.
  const CELLS = Math.max(1, Math.min(256, Math.floor(Math.sqrt(n / 4))));
  const cellOf = v => Math.min(CELLS - 1, Math.floor(v * CELLS / (SPAN + 1)));
  const start = new Int32Array(CELLS * CELLS + 1), order = new Int32Array(n);
  for (let i = 0; i < n; i++) if (label[i] !== NONE) start[cellOf(y[i]) * CELLS + cellOf(x[i]) + 1]++;
  for (let c = 0; c < CELLS * CELLS; c++) start[c + 1] += start[c];
  const fill = start.slice();
  for (let i = 0; i < n; i++) if (label[i] !== NONE) order[fill[cellOf(y[i]) * CELLS + cellOf(x[i])]++] = i;

  function nearest(px, py) {
    const s = scale(), reach = 14 / s;
    const mx = camera.x + (px - view.clientWidth / 2) / s, my = camera.y - (py - view.clientHeight / 2) / s;
    const clamp = v => cellOf(Math.max(0, Math.min(SPAN, v)));
    let best = -1, found = reach * reach;
    for (let r = clamp(my - reach); r <= clamp(my + reach); r++)
      for (let c = clamp(mx - reach); c <= clamp(mx + reach); c++)
        for (let p = start[r * CELLS + c]; p < start[r * CELLS + c + 1]; p++) {
          const i = order[p], d = (x[i] - mx) ** 2 + (y[i] - my) ** 2;
          if (d < found && shown(i)) { found = d; best = i; }
        }
    return best;
  }

  function mark(paint, px, py, radius, form) {
    if (form === 0) { paint.moveTo(px + radius, py); paint.arc(px, py, radius, 0, 7); }
    else if (form === 1) paint.rect(px - radius, py - radius, 2 * radius, 2 * radius);
    else { paint.moveTo(px, py - 1.4 * radius); paint.lineTo(px + 1.4 * radius, py); paint.lineTo(px, py + 1.4 * radius); paint.lineTo(px - 1.4 * radius, py); paint.closePath(); }
  }
  function draw() {
    waiting = false;
    const ratio = devicePixelRatio || 1, wide = view.clientWidth, high = view.clientHeight;
    view.width = wide * ratio;
    view.height = high * ratio;
    const paint = view.getContext('2d');
    paint.scale(ratio, ratio);
    const radius = Math.min(6, Math.max(1, (n > 20000 ? 1 : n > 3000 ? 1.6 : 3) * Math.sqrt(camera.zoom)));
    const groups = new Map();
    for (let i = 0; i < n; i++) {
      if (!shown(i)) continue;
      const [px, py] = toScreen(i);
      if (px < -9 || py < -9 || px > wide + 9 || py > high + 9) continue;
      const g = groupOf(i);
      if (!groups.has(g)) groups.set(g, []);
      groups.get(g).push(px, py);
    }
    paint.globalAlpha = 0.8;
    for (const [g, places] of groups) {
      paint.fillStyle = colourOf(g);
      paint.beginPath();
      const form = g === NONE ? 0 : Math.floor(g / COLOURS) % 3;
      for (let p = 0; p < places.length; p += 2) {
        if (radius < 1.3) paint.rect(places[p] - radius, places[p + 1] - radius, 2 * radius, 2 * radius);
        else mark(paint, places[p], places[p + 1], radius, form);
      }
      paint.fill();
    }
    if (marked >= 0) {
      const [px, py] = toScreen(marked);
      paint.globalAlpha = 1;
      paint.strokeStyle = styles().getPropertyValue('--ink');
      paint.lineWidth = 2;
      paint.beginPath();
      paint.arc(px, py, radius + 4, 0, 7);
      paint.stroke();
    }
  }
  const redraw = () => { if (!waiting) { waiting = true; requestAnimationFrame(draw); } };

  function describe(i) {
    const lines = [idOf(i), 'cluster ' + label[i]];
    if (truth) lines.push('class ' + (truth[i] === NONE ? 'unknown' : data.classes[truth[i]]));
    return lines;
  }
  function select(i) {
    marked = i;
    tip.hidden = i < 0;
    if (i >= 0) {
      tip.replaceChildren();
      const canvas = document.createElement('canvas');
      canvas.className = 'picture';
      if (picture(canvas, i, colourOf(label[i]))) tip.append(canvas);
      for (const line of describe(i)) {
        const words = document.createElement('div');
        words.textContent = line;
        tip.append(words);
      }
      const [px, py] = toScreen(i);
      tip.style.left = Math.min(px + 14, view.clientWidth - tip.offsetWidth - 4) + 'px';
      tip.style.top = Math.max(0, Math.min(py + 14, view.clientHeight - tip.offsetHeight)) + 'px';
      said.textContent = describe(i).join(', ');
    }
    redraw();
  }

  // ---- pointer, wheel, keys ----
  const held = new Map();
  const place = e => { const box = view.getBoundingClientRect(); return [e.clientX - box.left, e.clientY - box.top]; };
  function zoomAt(px, py, factor) {
    const before = scale();
    camera.zoom = Math.min(2000, Math.max(0.5, camera.zoom * factor));
    const shift = 1 / before - 1 / scale();
    camera.x += (px - view.clientWidth / 2) * shift;
    camera.y -= (py - view.clientHeight / 2) * shift;
    redraw();
  }
  view.addEventListener('pointerdown', e => { held.set(e.pointerId, place(e)); view.setPointerCapture(e.pointerId); });
  for (const end of ['pointerup', 'pointercancel']) view.addEventListener(end, e => held.delete(e.pointerId));
  view.addEventListener('pointermove', e => {
    const now = place(e), was = held.get(e.pointerId);
    if (!was) { select(nearest(...now)); return; }
    const others = [...held].filter(([id]) => id !== e.pointerId).map(([, p]) => p);
    if (others.length) {
      const [o] = others, size = p => Math.hypot(p[0] - o[0], p[1] - o[1]);
      zoomAt(o[0], o[1], Math.max(1, size(now)) / Math.max(1, size(was)));
    } else {
      camera.x -= (now[0] - was[0]) / scale();
      camera.y += (now[1] - was[1]) / scale();
      redraw();
    }
    held.set(e.pointerId, now);
  });
  view.addEventListener('pointerleave', () => { if (!held.size) select(-1); });
  view.addEventListener('wheel', e => { e.preventDefault(); zoomAt(...place(e), Math.exp(-e.deltaY / 400)); }, { passive: false });
  const reset = () => { camera = { x: SPAN / 2, y: SPAN / 2, zoom: 1 }; redraw(); };
  view.addEventListener('dblclick', reset);
  function step(direction) {
    for (let k = 1, i = marked; k <= n; k++) {
      i = (i + direction + n) % n;
      if (shown(i)) { camera.x = x[i]; camera.y = y[i]; select(i); return; }
    }
  }
  view.addEventListener('keydown', e => {
    const middle = [view.clientWidth / 2, view.clientHeight / 2];
    const keys = {
      ArrowRight: () => step(1), ArrowLeft: () => step(marked < 0 ? 0 : -1),
      '+': () => zoomAt(...middle, 1.4), '=': () => zoomAt(...middle, 1.4), '-': () => zoomAt(...middle, 1 / 1.4),
      0: reset, Escape: () => select(-1),
    };
    if (keys[e.key]) { e.preventDefault(); keys[e.key](); }
  });

  // ---- filters ----
  function count() {
    let seen = 0;
    for (let i = 0; i < n; i++) seen += shown(i);
    document.getElementById('count').textContent = seen.toLocaleString('en') + ' of ' + n.toLocaleString('en') + ' items shown';
    redraw();
  }
  const buttons = [...document.querySelectorAll('button[data-cluster]')];
  for (const button of buttons)
    button.addEventListener('click', e => {
      const c = Number(button.dataset.cluster);
      if (e.shiftKey) { // this one alone, or all again
        const alone = hidden.size === buttons.length - 1 && !hidden.has(c);
        hidden.clear();
        if (!alone) for (const b of buttons) if (b !== button) hidden.add(Number(b.dataset.cluster));
      } else if (!hidden.delete(c)) hidden.add(c);
      for (const b of buttons) b.setAttribute('aria-pressed', String(!hidden.has(Number(b.dataset.cluster))));
      count();
    });
  search.addEventListener('input', () => {
    const wanted = search.value.trim().toLowerCase();
    matches = null;
    if (wanted) {
      matches = new Uint8Array(n);
      for (let i = 0; i < n; i++) matches[i] = idOf(i).toLowerCase().includes(wanted);
    }
    count();
  });
  if (by) by.addEventListener('change', redraw);
  document.getElementById('reset').addEventListener('click', () => {
    hidden.clear();
    search.value = '';
    matches = null;
    for (const b of buttons) b.setAttribute('aria-pressed', 'true');
    reset();
    count();
  });
  for (const item of document.querySelectorAll('button[data-row]'))
    item.addEventListener('click', () => {
      const i = Number(item.dataset.row);
      camera = { x: x[i], y: y[i], zoom: Math.max(camera.zoom, 4) };
      view.scrollIntoView({ block: 'nearest' });
      select(i);
    });
  addEventListener('resize', redraw);
  addEventListener('beforeprint', draw);
  dark.addEventListener('change', () => { pictures(); redraw(); });
  count();
})();
