// Views of single items: table, drawer and heat map.

// ---- table: the selected items, largest ambiguity first ----

const tableColumns = [
  { name: 'item', text: nameOf, fill: i => [itemButton(i)] },
  { name: 'cluster', text: i => clusterName(i), fill: i => clusterLink(clustering().of[i]) },
];
if (ambiguity) {
  tableColumns.push({ name: 'nearest other cluster', text: i => nextName(i), fill: i => [nextName(i)] });
  tableColumns.push({ name: 'ambiguity', number: ambiguityOf, fill: i => [state.at === chosen ? ambiguityOf(i).toFixed(2) : ''] });
}
const table = { sort: tableColumns[ambiguity ? 3 : 0], falling: Boolean(ambiguity), rows: 20 }; // sort holds the column itself, because names may be equal
for (const column of columns.slice(0, 8))
  tableColumns.push({ name: column.name, text: i => columnText(column, i), fill: i => [columnText(column, i)] });
const clusterName = i => clustering().of[i] === NONE ? 'none' : clustering().names[clustering().of[i]];
const nextName = i => state.at !== chosen || next[i] === NONE ? '' : data.names[next[i]];
function clusterLink(g) {
  if (g === NONE) return ['none'];
  const by = clustering();
  return [swatch(by, g), ' ', by.isChosen ? make('a', { href: '#cluster-' + g }, by.names[g]) : by.names[g]];
}

function tableRows() {
  const rows = [], column = table.sort, sign = table.falling ? -1 : 1;
  for (let i = 0; i < n; i++) if (isThere(i) && isPicked(i)) rows.push(i);
  if (column.number) return rows.sort((a, b) => sign * (column.number(a) - column.number(b)) || a - b);
  const key = new Map(rows.map(i => [i, column.text(i)])), order = new Intl.Collator('en', { numeric: true });
  return rows.sort((a, b) => sign * order.compare(key.get(a), key.get(b)) || a - b);
}
function drawTable() {
  const rows = tableRows(), shown = rows.slice(0, table.rows);
  const sortBy = column => {
    Object.assign(table, { falling: table.sort === column ? !table.falling : Boolean(column.number), sort: column });
    drawTable();
    byId('items').querySelector(`th[aria-sort] button`).focus();
  };
  const head = c => make('th', {
    scope: 'col', 'aria-sort': c === table.sort && (table.falling ? 'descending' : 'ascending'),
  }, make('button', { click: () => sortBy(c) }, c.name + (c !== table.sort ? '' : table.falling ? ' \u2193' : ' \u2191')));
  const line = i => make('tr', null, ...tableColumns.map(c => make('td', { class: c.number && 'number' }, ...c.fill(i))));
  const more = make('button', { click: () => { table.rows *= 4; drawTable(); } }, 'more');
  byId('items').replaceChildren(
    make('table', null, make('thead', null, make('tr', null, ...tableColumns.map(head))), make('tbody', null, ...shown.map(line))),
    make('p', { class: 'faint' }, `${count(shown.length)} of ${count(rows.length)} `, ...(shown.length < rows.length ? [more] : [])));
}

// ---- drawer: details of one item ----

const drawer = byId('drawer');
let opener = null;
function neighborsOf(i) {
  if (!data.near) return [];
  neighborsOf.rows = neighborsOf.rows || words32(data.near.rows);
  neighborsOf.distance = neighborsOf.distance || floats(data.near.distance);
  const list = [], width = data.near.width;
  for (let k = i * width; k < (i + 1) * width; k++)
    if (neighborsOf.rows[k] < n) list.push({ i: neighborsOf.rows[k], distance: neighborsOf.distance[k] });
  return list;
}
function heavyWords(i) {
  heavyWords.of = heavyWords.of || words32(data.words.of);
  const width = data.words.width;
  return [...heavyWords.of.slice(i * width, (i + 1) * width)].filter(Boolean).map(w => data.words.list[w - 1]);
}
function farMeans(i) { // means of the item's coordinates, relative to all items, in standard deviations
  farMeans.of = farMeans.of || bytes(data.means.of);
  const { names, unit } = data.means;
  return names.map((name, c) => ({ name, value: (farMeans.of[i * names.length + c] - 128) / unit }));
}
function apartWords(i) {
  if (data.words) return 'Its heaviest words: ' + heavyWords(i).join(', ') + '.';
  if (!data.means) return '';
  const far = farMeans(i).sort((a, b) => Math.abs(b.value) - Math.abs(a.value)).slice(0, 4);
  return 'Farthest from the average item: ' + far.map(m => `${m.name} ${m.value < 0 ? '' : '+'}${m.value.toFixed(1)} sd`).join(', ') + '.';
}
function flowsOf(i) { // largest flows of the transport plan to the nearest neighbor
  const { words, percent, width } = data.words.flows;
  flowsOf.words = flowsOf.words || words32(words);
  flowsOf.percent = flowsOf.percent || bytes(percent);
  const list = [], at = i * width;
  for (let k = at; k < at + width && flowsOf.words[2 * k]; k++)
    list.push(`${data.words.list[flowsOf.words[2 * k] - 1]} \u2192 ${data.words.list[flowsOf.words[2 * k + 1] - 1]} (${flowsOf.percent[i * (width + 1) + k - at]}%)`);
  return { list, stays: flowsOf.percent[i * (width + 1) + width] };
}
function planWords(i) {
  const { list, stays } = flowsOf(i);
  return `optimal transport leaves ${stays}% of its mass in place` + (list.length ? '; the largest flows are ' + list.join(', ') : '');
}
function reason(i, other, isNearest) { // why two items are close
  if (data.words && data.words.flows && isNearest) return planWords(i);
  if (data.words) {
    const common = heavyWords(i).filter(w => heavyWords(other).includes(w));
    return common.length ? 'words with much mass in both: ' + common.join(', ') : 'no words with much mass in common';
  }
  if (!data.means) return '';
  const theirs = farMeans(other);
  const common = farMeans(i).map((m, c) => ({ name: m.name, low: m.value < 0, value: m.value * theirs[c].value > 0 ? Math.min(Math.abs(m.value), Math.abs(theirs[c].value)) : 0 }))
    .filter(m => m.value >= 0.5).sort((a, b) => b.value - a.value).slice(0, 3);
  return common.length ? 'both ' + common.map(m => (m.low ? 'low in ' : 'high in ') + m.name).join(', ') : '';
}
function standingWords(i) {
  if (!ambiguity || next[i] === NONE || state.at !== chosen) return '';
  const d = ambiguityOf(i), where = d > 0.45 ? 'on the boundary with' : d > 0.3 ? 'closer to its own cluster; the nearest other one is' : 'well inside its cluster; the nearest other one is';
  return `${where} ${data.names[next[i]]} (ambiguity ${d.toFixed(2)}; 0.5 is the boundary)`;
}
function neighborList(i) {
  const near = neighborsOf(i);
  if (!near.length) return [];
  const lines = near.map(({ i: other, distance }, at) => make('li', null, itemButton(other), ...compareButton(i, other),
    make('div', { class: 'faint' }, ...clusterLink(clustering().of[other]), `, distance ${distance.toPrecision(3)}`,
      ...[reason(i, other, at === 0)].filter(Boolean).map(why => ', ' + why))));
  return [make('h3', null, 'Nearest neighbors'), make('ol', null, ...lines)];
}
function openDrawer(i) {
  if (!drawer.open) opener = document.activeElement;
  const facts = [['cluster', clusterLink(clustering().of[i])]];
  if (standingWords(i)) facts.push(['position', [standingWords(i)]]);
  if (outliers.has(i)) facts.push(['outlier', [`its neighbors are ${outliers.get(i)} times as far away as their own neighbors are from them`]]);
  if (nameOf(i) !== idOf(i)) facts.push(['id', [idOf(i)]]);
  for (const column of columns) if (columnText(column, i)) facts.push([column.name, [columnText(column, i)]]);
  const small = picture(i), apart = apartWords(i);
  drawer.replaceChildren(make('button', { id: 'close', 'aria-label': 'close', click: closeDrawer }, '\u00d7'),
    make('h2', { id: 'drawer-name' }, nameOf(i)), ...(small ? [small] : []),
    make('dl', null, ...facts.flatMap(([name, value]) => [make('dt', null, name), make('dd', null, ...value)])),
    ...(apart ? [make('p', null, apart)] : []), ...neighborList(i),
    ...(map ? [make('p', null, make('button', { click: () => { closeDrawer(); view.scrollIntoView({ block: 'nearest' }); view.focus({ preventScroll: true }); map.goTo(i); } }, 'show on the map'))] : []));
  if (!drawer.open) drawer.show();
  byId('close').focus();
  if (map) map.touch(i, false);
}
function closeDrawer() {
  drawer.close();
  if (opener && opener.isConnected) opener.focus({ preventScroll: true });
}

// ---- heat map: distances between all items, sorted by cluster ----

function drawHeat() {
  const rows = [], by = clustering(), { width } = data.embedding, cells = words16(data.embedding.cells);
  for (let i = 0; i < n; i++) if (isThere(i) && by.of[i] !== NONE) rows.push(i);
  rows.sort((a, b) => by.of[a] - by.of[b] || (ambiguity ? ambiguity[a] - ambiguity[b] : 0) || a - b);
  const distance = (a, b) => {
    let sum = 0;
    for (let c = 0; c < width; c++) sum += (cells[a * width + c] - cells[b * width + c]) ** 2;
    return Math.sqrt(sum);
  };
  const matrix = rows.map(a => rows.map(b => distance(a, b))), most = Math.max(...matrix.map(row => Math.max(...row))) || 1;
  const NAMES = 150, side = Math.max(10, Math.min(26, Math.floor(720 / rows.length))), size = NAMES + side * rows.length;
  const canvas = byId('heat-view'), ratio = devicePixelRatio || 1, paint = canvas.getContext('2d');
  canvas.width = size * ratio;
  canvas.height = (size - NAMES) * ratio;
  canvas.style.inlineSize = size + 'px';
  paint.scale(ratio, ratio);
  paint.font = Math.min(12, side) + 'px system-ui,sans-serif';
  paint.textAlign = 'right';
  rows.forEach((a, r) => {
    paint.globalAlpha = isPicked(a) ? 1 : 0.35;
    paint.fillStyle = ink('--ink');
    const name = nameOf(a);
    paint.fillText(name.length > 20 ? name.slice(0, 19) + '\u2026' : name, NAMES - 10, side * (r + 0.75), NAMES - 14);
    paint.fillStyle = colorOf(by, by.of[a]);
    paint.fillRect(NAMES - 7, side * r, 4, side);
    rows.forEach((b, c) => {
      paint.globalAlpha = (isPicked(a) && isPicked(b) ? 1 : 0.25) * (0.03 + 0.97 * (1 - matrix[r][c] / most) ** 2);
      paint.fillRect(NAMES + side * c, side * r, side - (side > 12), side - (side > 12));
    });
  });
  byId('heat').hidden = false;
  canvas.onpointermove = e => {
    const r = rows[Math.floor(e.offsetY / side)], c = rows[Math.floor((e.offsetX - NAMES) / side)];
    byId('heat-said').textContent = r === undefined || c === undefined ? '' : `${nameOf(r)} and ${nameOf(c)}`;
  };
  canvas.onclick = e => { const r = rows[Math.floor(e.offsetY / side)]; if (r !== undefined) openDrawer(r); };
}
