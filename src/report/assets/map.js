// The map: pan, zoom, hover, names and frames. It is a canvas so that 70,000 items remain
// responsive.
const view = byId('view');

const map = !view ? null : (() => {
  const { x, y } = place, tip = byId('tip'), said = byId('said'), MARGIN = n > 60 ? 28 : 90, EDGE = 9;
  const all = [];
  for (let i = 0; i < n; i++) if (isThere(i)) all.push(i);
  const box = boundsOf(all);
  view.classList.toggle('flat', box.high - box.low < 0.45 * (box.right - box.left));
  let camera = { x: (box.left + box.right) / 2, y: (box.low + box.high) / 2, zoom: 1 }, frame = null, waiting = false;

  function boundsOf(list) {
    const b = { left: Infinity, right: -Infinity, low: Infinity, high: -Infinity };
    for (const i of list) {
      b.left = Math.min(b.left, x[i]);
      b.right = Math.max(b.right, x[i]);
      b.low = Math.min(b.low, y[i]);
      b.high = Math.max(b.high, y[i]);
    }
    return b;
  }
  const scaleFor = b => Math.min((view.clientWidth - 2 * MARGIN) / Math.max(1, b.right - b.left),
    (view.clientHeight - 2 * MARGIN) / Math.max(1, b.high - b.low));
  const scale = () => camera.zoom * scaleFor(box);
  const across = i => view.clientWidth / 2 + scale() * (x[i] - camera.x);
  const down = i => view.clientHeight / 2 - scale() * (y[i] - camera.y);
  function lookAt(b, most) {
    camera = { x: (b.left + b.right) / 2, y: (b.low + b.high) / 2, zoom: Math.min(most, scaleFor(b) / scaleFor(box)) };
    redraw();
  }
  const showAll = () => lookAt(box, 1);

  // ---- index of items by grid cell, for fast lookup of the item under the pointer ----

  const SPAN = 65536, CELLS = Math.max(1, Math.min(256, Math.floor(Math.sqrt(n / 4))));
  const cellOf = v => Math.max(0, Math.min(CELLS - 1, Math.floor(v * CELLS / SPAN)));
  const start = new Int32Array(CELLS * CELLS + 1), order = new Int32Array(n);
  const cellAt = i => cellOf(y[i]) * CELLS + cellOf(x[i]);
  for (let i = 0; i < n; i++) if (isThere(i)) start[cellAt(i) + 1]++;
  for (let c = 0; c < CELLS * CELLS; c++) start[c + 1] += start[c];
  const filled = start.slice();
  for (let i = 0; i < n; i++) if (isThere(i)) order[filled[cellAt(i)]++] = i;

  function nearest(px, py) {
    const s = scale(), reach = 16 / s;
    const mx = camera.x + (px - view.clientWidth / 2) / s, my = camera.y - (py - view.clientHeight / 2) / s;
    let best = -1, least = reach * reach;
    for (let r = cellOf(my - reach); r <= cellOf(my + reach); r++)
      for (let c = cellOf(mx - reach); c <= cellOf(mx + reach); c++)
        for (let p = start[r * CELLS + c]; p < start[r * CELLS + c + 1]; p++) {
          const i = order[p], d = (x[i] - mx) ** 2 + (y[i] - my) ** 2;
          if (d < least && isPicked(i)) { least = d; best = i; }
        }
    return best;
  }

  // ---- drawing ----

  function drawMarks(paint, wide, high, radius) {
    const by = coloring(), s = scale(), left = wide / 2 - s * camera.x, top = high / 2 + s * camera.y;
    const groups = new Map(), faded = [], seen = [];
    for (const i of all) {
      const px = left + s * x[i], py = top - s * y[i];
      if (px < -EDGE || py < -EDGE || px > wide + EDGE || py > high + EDGE) continue;
      let places = faded;
      if (isPicked(i)) {
        if (!groups.has(by.of[i])) groups.set(by.of[i], []);
        places = groups.get(by.of[i]);
        if (seen.length <= NAMED) seen.push(i);
      }
      places.push(px, py);
    }
    paint.globalAlpha = 0.25;
    fillMarks(paint, faded, ink('--none'), 0, radius);
    paint.globalAlpha = radius < 3 ? 0.75 : 0.9;
    for (const [g, places] of groups) fillMarks(paint, places, colorOf(by, g), shapeOf(by, g), radius);
    paint.globalAlpha = 1;
    return seen;
  }
  function fillMarks(paint, places, color, shape, radius) {
    paint.fillStyle = color;
    paint.beginPath();
    for (let p = 0; p < places.length; p += 2) {
      if (radius < 1.5) paint.rect(places[p] - radius, places[p + 1] - radius, 2 * radius, 2 * radius);
      else mark(paint, places[p], places[p + 1], radius, shape);
    }
    paint.fill();
  }
  function ring(paint, i, radius, line = 2) {
    paint.strokeStyle = ink('--ink');
    paint.lineWidth = line;
    paint.beginPath();
    paint.arc(across(i), down(i), radius, 0, 7);
    paint.stroke();
  }

  // Places names so that they do not overlap each other or, if there are few marks, the marks.
  // Earlier names take precedence.
  const NAMED = 60, CLUSTER_NAMES = 40, LINE = 15;
  function placer(paint, wide, high) {
    const taken = [];
    const meets = b => taken.some(t => t[0] < b[2] && t[2] > b[0] && t[1] < b[3] && t[3] > b[1]);
    return {
      keepOff: (px, py, radius) => taken.push([px - radius, py - radius, px + radius, py + radius]),
      // Draws the text at the first free position (left, middle). With `must`, it uses the first
      // position if none is free.
      put: (words, font, places, must) => {
        paint.font = font;
        const w = paint.measureText(words).width;
        const boxes = places(w).map(([left, middle]) => {
          const l = Math.max(2, Math.min(wide - w - 2, left)), t = Math.max(2, Math.min(high - LINE - 2, middle - LINE / 2));
          return [l, t, l + w, t + LINE];
        });
        const free = boxes.find(b => !meets(b)) || (must && boxes[0]);
        if (!free) return;
        taken.push(free);
        paint.lineJoin = 'round';
        paint.lineWidth = 4;
        paint.strokeStyle = ink('--paper');
        paint.fillStyle = ink('--ink');
        paint.strokeText(words, free[0], free[1] + 12);
        paint.fillText(words, free[0], free[1] + 12);
      },
    };
  }
  const cut = (words, most) => words.length > most ? words.slice(0, most - 1) + '\u2026' : words;
  let centers = { by: null, list: [] };
  function clusterCenters(by) { // the item nearest to the median position of each cluster, and the extent of the cluster, largest first
    if (centers.by === by) return centers.list;
    const members = by.names.map(() => []);
    for (let i = 0; i < n; i++) if (isThere(i) && by.of[i] !== NONE) members[by.of[i]].push(i);
    const median = (list, axis) => Float64Array.from(list, i => axis[i]).sort()[list.length >> 1];
    const center = list => { // uses an item, because the median of a cluster in two parts may lie outside both
      const mx = median(list, x), my = median(list, y), away = i => (x[i] - mx) ** 2 + (y[i] - my) ** 2;
      const i = list.reduce((best, other) => away(other) < away(best) ? other : best, list[0]);
      return { x: x[i], y: y[i] };
    };
    const list = members.map((list, g) => ({ g, size: list.length, ...(list.length ? center(list) : {}), ...boundsOf(list) }))
      .filter(c => c.size).sort((a, b) => b.size - a.size).slice(0, CLUSTER_NAMES);
    centers = { by, list };
    return list;
  }
  function drawClusterPicture(paint, by, g, px, py) {
    const [small] = typicalPicture(by, g), SIDE = 34;
    if (!small) return 0;
    paint.globalAlpha = 0.85;
    paint.fillStyle = ink('--paper');
    paint.fillRect(px - SIDE / 2, py - SIDE / 2, SIDE, SIDE);
    paint.globalAlpha = 1;
    paint.imageSmoothingEnabled = false;
    paint.drawImage(small, px - SIDE / 2, py - SIDE / 2, SIDE, SIDE);
    return SIDE / 2 + LINE / 2;
  }
  function drawNames(paint, wide, high, seen, radius) {
    const names = placer(paint, wide, high), by = coloring(), few = seen.length <= NAMED;
    if (few) for (const i of seen) names.keepOff(across(i), down(i), radius);
    if (!by.shades)
      for (const c of clusterCenters(by)) {
        const px = wide / 2 + scale() * (c.x - camera.x), py = high / 2 - scale() * (c.y - camera.y);
        if (px < 0 || py < 0 || px > wide || py > high) continue;
        const isWide = scale() * Math.min(c.right - c.left, c.high - c.low) > 90; // otherwise a picture would hide the cluster
        const below = isWide ? drawClusterPicture(paint, by, c.g, px, py) : 0;
        names.put(cut(by.names[c.g], 34), '600 14px system-ui,sans-serif', w =>
          (few ? [py - 20, py + 20, high / 2 - scale() * (c.high - camera.y) - 20, high / 2 - scale() * (c.low - camera.y) + 20]
            : [0, -18, 18, -36, 36].map(shift => py + below + shift)).map(middle => [px - w / 2, middle]), by.names.length < wide / 90);
      }
    if (!few) return;
    for (const i of seen) {
      const px = across(i), py = down(i), off = radius + 3;
      names.put(cut(nameOf(i), 24), '12px system-ui,sans-serif', w =>
        [0, 1, -1].flatMap(turn => [[px + off, py + turn * LINE / 2], [px - off - w, py + turn * LINE / 2]])
          .concat([1, -1].map(turn => [px - w / 2, py + turn * (off + LINE / 2)])), false);
    }
  }

  function draw() {
    waiting = false;
    const ratio = devicePixelRatio || 1, wide = view.clientWidth, high = view.clientHeight;
    view.width = wide * ratio;
    view.height = high * ratio;
    const paint = view.getContext('2d');
    paint.scale(ratio, ratio);
    const base = n > 20000 ? 1.1 : n > 3000 ? 1.8 : n > 500 ? 3 : n > 100 ? 4.5 : 6;
    const radius = Math.min(8, base * Math.sqrt(Math.max(1, camera.zoom)));
    const seen = drawMarks(paint, wide, high, radius);
    for (const i of outliers.keys()) if (isThere(i)) ring(paint, i, radius + 2, 1);
    for (const i of (state.found || []).slice(0, 200)) ring(paint, i, radius + 4);
    drawNames(paint, wide, high, seen, radius);
    if (state.marked >= 0) ring(paint, state.marked, radius + 4);
    if (frame) {
      paint.strokeStyle = ink('--ink');
      paint.lineWidth = 1;
      paint.setLineDash([4, 3]);
      paint.strokeRect(frame[0], frame[1], frame[2] - frame[0], frame[3] - frame[1]);
    }
  }
  function redraw() { if (!waiting) { waiting = true; requestAnimationFrame(draw); } }

  // ---- the item at the pointer or selected with the keys ----

  function describe(i) {
    const by = clustering(), lines = [nameOf(i), by.of[i] === NONE ? 'in no cluster' : by.names[by.of[i]]];
    for (const column of columns.slice(0, 3)) lines.push(column.name + ': ' + (columnText(column, i) || 'unknown'));
    return lines;
  }
  function touch(i, aloud) {
    tip.hidden = i < 0;
    if (i >= 0) {
      const small = picture(i);
      tip.replaceChildren(...(small ? [small] : []), ...describe(i).map(line => make('div', null, line)));
      tip.style.left = Math.max(0, Math.min(across(i) + 14, view.clientWidth - tip.offsetWidth - 4)) + 'px';
      tip.style.top = Math.max(0, Math.min(down(i) + 14, view.clientHeight - tip.offsetHeight)) + 'px';
      if (aloud) said.textContent = describe(i).join(', ');
    }
    state.marked = i;
    redraw();
  }
  function goTo(i) { // centers the map on the item, with enough zoom to distinguish it from its neighbors
    camera = { x: x[i], y: y[i], zoom: Math.max(camera.zoom, n > 100 ? 4 : 1) };
    touch(i, true);
  }
  function step(direction) {
    for (let k = 0, i = state.marked; k < n; k++) {
      i = (i + direction + n) % n;
      if (isThere(i) && isPicked(i)) { camera.x = x[i]; camera.y = y[i]; touch(i, true); return; }
    }
  }

  // ---- pointer, wheel, keys ----

  const held = new Map();
  let moved = 0, framing = false;
  const spot = e => { const b = view.getBoundingClientRect(); return [e.clientX - b.left, e.clientY - b.top]; };
  function zoomAt(px, py, factor) {
    const before = scale();
    camera.zoom = Math.min(2000, Math.max(0.5, camera.zoom * factor));
    const shift = 1 / before - 1 / scale();
    camera.x += (px - view.clientWidth / 2) * shift;
    camera.y -= (py - view.clientHeight / 2) * shift;
    redraw();
  }
  function pickFrame() {
    const [left, right] = [frame[0], frame[2]].sort((a, b) => a - b), [top, foot] = [frame[1], frame[3]].sort((a, b) => a - b);
    frame = null;
    pick(i => across(i) >= left && across(i) <= right && down(i) >= top && down(i) <= foot, 'in the frame');
  }
  view.addEventListener('pointerdown', e => {
    moved = 0;
    if (e.shiftKey || (framing && !held.size)) frame = [...spot(e), ...spot(e)];
    held.set(e.pointerId, spot(e));
    view.setPointerCapture(e.pointerId);
  });
  view.addEventListener('pointermove', e => {
    const now = spot(e), was = held.get(e.pointerId);
    if (!was) { touch(nearest(...now), false); return; }
    const others = [...held].filter(([id]) => id !== e.pointerId).map(([, p]) => p);
    moved += Math.hypot(now[0] - was[0], now[1] - was[1]);
    if (frame) { frame[2] = now[0]; frame[3] = now[1]; redraw(); }
    else if (others.length) {
      const size = p => Math.hypot(p[0] - others[0][0], p[1] - others[0][1]);
      zoomAt(...others[0], Math.max(1, size(now)) / Math.max(1, size(was)));
    } else {
      camera.x -= (now[0] - was[0]) / scale();
      camera.y += (now[1] - was[1]) / scale();
      redraw();
    }
    held.set(e.pointerId, now);
  });
  view.addEventListener('pointerup', e => {
    held.delete(e.pointerId);
    if (frame && moved > 4) pickFrame();
    else if (moved <= 4 && nearest(...spot(e)) >= 0) openDrawer(nearest(...spot(e)));
    frame = null;
  });
  view.addEventListener('pointercancel', e => { held.delete(e.pointerId); frame = null; redraw(); });
  view.addEventListener('pointerleave', () => { if (!held.size) touch(-1, false); });
  view.addEventListener('wheel', e => { // without an earlier click, the user wants to scroll the page
    if (!e.ctrlKey && !e.metaKey && document.activeElement !== view) return;
    e.preventDefault();
    zoomAt(...spot(e), Math.exp(-e.deltaY / 400));
  }, { passive: false });
  view.addEventListener('dblclick', showAll);
  view.addEventListener('keydown', e => {
    const middle = [view.clientWidth / 2, view.clientHeight / 2];
    const keys = {
      ArrowRight: () => step(1), ArrowLeft: () => step(state.marked < 0 ? 0 : -1),
      Enter: () => { if (state.marked >= 0) openDrawer(state.marked); },
      '+': () => zoomAt(...middle, 1.4), '=': () => zoomAt(...middle, 1.4), '-': () => zoomAt(...middle, 1 / 1.4),
      0: showAll, Escape: () => { touch(-1, false); pick(null); },
    };
    if (keys[e.key]) { e.preventDefault(); keys[e.key](); }
  });
  const frameButton = byId('frame');
  frameButton.addEventListener('click', () => {
    framing = !framing;
    frameButton.setAttribute('aria-pressed', String(framing));
  });

  watchers.push(redraw);
  addEventListener('resize', redraw);
  addEventListener('beforeprint', draw);
  const getCamera = () => ({ ...camera }), setCamera = kept => { camera = kept; redraw(); };
  return { redraw, showAll, getCamera, setCamera, goTo, lookAtItems: list => lookAt(boundsOf(list), 12), touch };
})();
