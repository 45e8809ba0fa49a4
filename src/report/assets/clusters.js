// Controls and views of clusters: legend, slider over K, search, cards, and the table of classes
// and clusters.

// ---- legend: names, with bars for sizes; a click selects clusters ----

function countValues(by, test) {
  const sizes = new Uint32Array(by.names.length);
  for (let i = 0; i < n; i++) if (isThere(i) && by.of[i] !== NONE && test(i)) sizes[by.of[i]]++;
  return sizes;
}
function toggleValue(by, g) {
  const legend = new Set(state.legend);
  if (!legend.delete(g)) legend.add(g);
  const words = [...legend].map(c => by.names[c]).join('; ');
  pick(legend.size ? i => legend.has(by.of[i]) : null, words, { legend });
}
function typicalItem(by, g) { // from the cards of the page; -1 if not known
  const shown = by.isChosen && document.querySelector(`#cluster-${g} .item`);
  return shown ? Number(shown.dataset.row) : -1;
}
function typicalPicture(by, g) {
  const row = typicalItem(by, g), small = row < 0 ? null : picture(row);
  return small ? [small] : [];
}
const LEGEND_ROWS = 60;
function drawLegend() {
  const by = coloring(), sizes = countValues(by, () => true), chosenSizes = countValues(by, isPicked);
  const most = Math.max(1, ...sizes), focused = document.activeElement && document.activeElement.dataset.value;
  const rows = [...sizes.keys()].slice(0, LEGEND_ROWS).map(g => {
    const whole = make('span', { class: 'bar' }, make('span'));
    whole.style.inlineSize = 100 * sizes[g] / most + '%';
    whole.firstChild.style.inlineSize = (sizes[g] ? 100 * chosenSizes[g] / sizes[g] : 0) + '%';
    whole.firstChild.style.background = colorOf(by, g);
    const words = state.picked ? count(chosenSizes[g]) + ' of ' + count(sizes[g]) : count(sizes[g]);
    return make('li', null, make('button', {
      'data-value': g, 'aria-pressed': String(state.legend.has(g)), click: () => toggleValue(by, g),
    }, swatch(by, g), ...typicalPicture(by, g), make('span', { class: 'value-name' }, by.names[g]), make('span', { class: 'size' }, words), whole));
  });
  if (sizes.length > LEGEND_ROWS) rows.push(make('li', { class: 'faint' }, 'and ' + (sizes.length - LEGEND_ROWS) + ' more'));
  byId('legend').replaceChildren(...rows);
  if (focused !== undefined) {
    const again = byId('legend').querySelector(`[data-value="${focused}"]`);
    if (again) again.focus({ preventScroll: true });
  }
}

function drawCount() {
  const { picked } = state;
  let there = 0;
  for (let i = 0; i < n; i++) there += isThere(i);
  byId('count').textContent = picked ? `${count(picked.count)} of ${count(there)} items selected: ${picked.words}` : `${count(there)} items`;
}

// ---- slider, colors, search, reset ----

function sayK() {
  const s = tried[state.at], by = clustering();
  const halves = s.stability === undefined ? '' : `, halves agree ${s.stability.toFixed(2)}`;
  byId('k-words').textContent = by.names.length + (by.isChosen ? ' (chosen)' : '') + halves;
  byId('k').setAttribute('aria-valuetext', `${by.names.length} clusters${halves}`);
}
let viewBeforeFind = null; // camera of the map before a search moved it
function find() {
  const wanted = byId('search').value.trim().toLowerCase();
  if (!wanted) {
    pick(null);
    map.touch(-1, false);
    if (viewBeforeFind) map.setCamera(viewBeforeFind);
    viewBeforeFind = null;
    return;
  }
  viewBeforeFind ||= map.getCamera();
  const has = i => idOf(i).toLowerCase().includes(wanted) || nameOf(i).toLowerCase().includes(wanted);
  const found = [];
  for (let i = 0; i < n; i++) if (isThere(i) && has(i)) found.push(i);
  const set = new Set(found);
  pick(i => set.has(i), `with "${wanted}"`, { found, marked: -1 });
  map.touch(-1, false);
  if (found.length) map.lookAtItems(found);
}
function setUpControls() {
  const by = byId('by'), slider = byId('k'), search = byId('search');
  by.append(make('option', { value: -1 }, 'cluster'), ...columns.map((c, at) => make('option', { value: at }, c.name)));
  by.addEventListener('change', () => pick(null, '', { by: Number(by.value) }));
  if (slider) {
    slider.max = tried.length - 1;
    slider.value = chosen;
    slider.addEventListener('input', () => pick(null, '', { at: Number(slider.value) }));
    watchers.push(sayK);
    sayK();
  }
  search.addEventListener('input', find);
  search.addEventListener('keydown', e => { if (e.key === 'Enter' && state.found && state.found.length) openDrawer(state.found[0]); });
  byId('reset').addEventListener('click', () => {
    search.value = '';
    viewBeforeFind = null;
    by.value = -1;
    if (slider) slider.value = chosen;
    map.touch(-1, false);
    pick(null, '', { by: -1, at: chosen });
    map.showAll();
  });
  watchers.push(drawLegend, drawCount);
  drawLegend();
  drawCount();
}

// ---- cards: part of the page for the chosen K, generated for other K ----

function itemButton(i, ...more) {
  const small = picture(i);
  return make('button', { class: 'item', 'data-row': i, click: () => openDrawer(i) }, ...(small ? [small] : []), nameOf(i), ...more);
}
function middleItems(by, g, most) { // the items closest to the median position of a cluster on the map
  const members = [];
  for (let i = 0; i < n; i++) if (isThere(i) && by.of[i] === g) members.push(i);
  const median = axis => Float64Array.from(members, i => axis[i]).sort()[members.length >> 1];
  const cx = median(place.x), cy = median(place.y), away = i => (place.x[i] - cx) ** 2 + (place.y[i] - cy) ** 2;
  return members.sort((a, b) => away(a) - away(b)).slice(0, most);
}
function averageOf(means, by, g) { // the mean picture of a cluster, and its difference from the other clusters
  const { side, size, sum } = means, rest = size.reduce((a, b) => a + b, 0) - size[g];
  const here = sum[g].map(v => v / Math.max(1, size[g]));
  const others = here.map((_, c) => sum.reduce((a, other, o) => a + (o === g ? 0 : other[c]), 0) / Math.max(1, rest));
  const color = colorOf(by, g), name = by.names[g];
  return make('p', { class: 'average' },
    make('span', null, drawCells(side, here, color, color, 'average item of ' + name), 'average'),
    make('span', null, drawCells(side, here.map((v, c) => v - others[c]), color, ink('--none'), 'difference between ' + name + ' and the other clusters'), 'difference from the other clusters (gray: less)'));
}
function addAverages(cards) {
  const by = clustering(), means = cards.length ? meanPictures(by) : null;
  if (means) cards.forEach((card, g) => {
    for (const old of card.querySelectorAll('.average')) old.remove();
    card.querySelector('p').after(averageOf(means, by, g));
  });
}
function otherCard(by, g, sizes) {
  return make('section', { class: 'card' }, make('h3', null, swatch(by, g), ' ' + by.names[g]),
    make('p', { class: 'faint' }, `cluster ${g}, ${count(sizes[g])} items`, make('span', { class: 'picked', 'data-cluster': g })),
    make('h4', null, 'central on the map'), make('ul', null, ...middleItems(by, g, 6).map(i => make('li', null, itemButton(i)))));
}
function drawCards(parts) {
  const by = clustering(), others = byId('other-cards');
  if (!others) return;
  if ('at' in parts) {
    byId('cards').hidden = !by.isChosen;
    others.hidden = Boolean(by.isChosen);
    const sizes = countValues(by, () => true);
    others.replaceChildren(...(by.isChosen ? [] : by.names.map((_, g) => otherCard(by, g, sizes))));
    addAverages([...others.children]);
  }
  const picked = countValues(by, isPicked);
  for (const words of document.querySelectorAll('.picked'))
    words.textContent = state.picked ? `, ${count(picked[words.dataset.cluster] || 0)} selected` : '';
}
function paintCards() { // fills in swatches and small pictures
  for (const old of document.querySelectorAll('.swatch[data-value]')) {
    const fresh = swatch(clusterings.get(chosen), Number(old.dataset.value));
    fresh.dataset.value = old.dataset.value;
    old.replaceWith(fresh);
  }
  for (const canvas of document.querySelectorAll('canvas[data-row]'))
    if (!picture(Number(canvas.dataset.row), canvas)) canvas.hidden = true;
  if (state.at === chosen) addAverages([...document.querySelectorAll('#cards .card')]);
}

// ---- merge tree ----

const svg = (tag, attributes, ...children) => {
  const node = document.createElementNS(byId('tree').firstChild.namespaceURI, tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
};
function treeNodes() { // leaves from top to bottom, then joints, each with position, height and clusters below
  const names = data.names.length, below = data.names.map((_, c) => [c]);
  for (const [a, b] of data.tree) below.push([...below[a], ...below[b]]);
  const row = new Map(below[below.length - 1].map((c, at) => [c, at]));
  const nodes = data.names.map((_, c) => ({ y: row.get(c), height: 0, below: [c] }));
  data.tree.forEach(([a, b, height], m) => nodes.push({ a, b, height, y: (nodes[a].y + nodes[b].y) / 2, below: below[names + m] }));
  return nodes;
}
function drawTree() {
  const LINE = 24, LEFT = 230, WIDE = 700, TOP = 20, nodes = treeNodes(), by = clusterings.get(chosen), foot = TOP + data.names.length * LINE;
  const across = h => LEFT + 12 + h * (WIDE - LEFT - 30), down = y => TOP + (y + 0.5) * LINE;
  const choose = node => pick(i => node.below.includes(label[i]), node.below.map(c => data.names[c]).join(' + '), { at: chosen, by: -1 });
  const leaf = (node, c) => svg('g', {}, svg('circle', { cx: LEFT, cy: down(node.y), r: 5, fill: colorOf(by, c) }),
    svg('text', { x: LEFT - 12, y: down(node.y) + 4, 'text-anchor': 'end' }, data.names[c].length > 32 ? data.names[c].slice(0, 31) + '\u2026' : data.names[c]));
  const joint = node => {
    const [a, b] = [nodes[node.a], nodes[node.b]], x = across(node.height);
    const words = `${node.below.map(c => data.names[c]).join(' + ')}: merge at ${node.height.toFixed(2)}`;
    const dot = svg('circle', { cx: x, cy: down(node.y), r: 5, class: 'joint', tabindex: 0, role: 'button', 'aria-label': words }, svg('title', {}, words));
    dot.addEventListener('click', () => choose(node));
    dot.addEventListener('keydown', e => { if (e.key === 'Enter' || e.key === ' ') { e.preventDefault(); choose(node); } });
    return svg('g', {}, svg('path', { class: 'line', d: `M${across(a.height)} ${down(a.y)}H${x}V${down(b.y)}H${across(b.height)}` }), dot);
  };
  const ticks = [0, 0.5, 1].map(h => svg('g', { class: 'faint' },
    svg('path', { class: 'line rule', d: `M${across(h)} ${TOP}V${foot}` }), svg('text', { x: across(h), y: 12, 'text-anchor': 'middle' }, String(h))));
  byId('tree').replaceChildren(svg('svg', { viewBox: `0 0 ${WIDE} ${foot + 4}`, role: 'group', 'aria-label': 'Merge tree of the clusters' },
    ...ticks, ...nodes.slice(data.names.length).map(joint), ...data.names.map((_, c) => leaf(nodes[c], c))));
}

// ---- classes and clusters ----

function drawClasses() {
  const by = clustering(), truth = columns[0];
  const table = overlaps(truth.code, truth.values.length, by.of, by.names.length);
  const picked = state.picked && overlaps(truth.code.map((c, i) => isPicked(i) ? c : NONE), truth.values.length, by.of, by.names.length);
  const cell = (row, c, g) => {
    if (!row[g]) return make('td');
    const shown = picked ? `${count(picked[c][g])} of ${count(row[g])}` : count(row[g]);
    const td = make('td', null, make('button', {
      'aria-label': `class ${truth.values[c]} in ${by.names[g]}: ${shown}`,
      click: () => pick(i => truth.code[i] === c && by.of[i] === g, `class ${truth.values[c]} in ${by.names[g]}`),
    }, shown));
    const share = row[g] / row.reduce((a, b) => a + b, 0);
    td.style.background = `color-mix(in srgb, ${colorOf(by, g)} ${Math.round(45 * share)}%, transparent)`;
    return td;
  };
  byId('classes').replaceChildren(make('table', { class: 'grid' },
    make('thead', null, make('tr', null, make('td'), ...by.names.map(name => make('th', { scope: 'col' }, name)))),
    make('tbody', null, ...table.map((row, c) => make('tr', null, make('th', { scope: 'row' }, truth.values[c]),
      ...[...row.keys()].map(g => cell(row, c, g)))))));
}
