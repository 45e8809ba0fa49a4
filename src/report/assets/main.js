// Sets up the page.

function setUpContents() {
  const heads = [...document.querySelectorAll('main > h2, main > div > h2')].filter(h => !h.closest('[hidden]'));
  heads.forEach((h, at) => { h.id = h.id || 'part-' + at; });
  byId('contents').append(...heads.map(h => make('a', { href: '#' + h.id }, h.textContent)), make('a', { href: '#how' }, 'How this was computed'));
}
function watchWidth() { // areas that scroll sideways must be reachable with the keyboard
  for (const wide of document.querySelectorAll('.wide')) {
    const over = wide.scrollWidth > wide.clientWidth;
    wide.toggleAttribute('tabindex', over);
    if (over) wide.tabIndex = 0;
  }
}
function setUpViews() {
  watchers.push(drawCards);
  if (map) {
    setUpControls();
    watchers.push(drawTable);
    drawTable();
  }
  if (byId('tree')) drawTree();
  if (byId('classes')) {
    watchers.push(drawClasses);
    drawClasses();
  }
  if (byId('heat') && data.embedding) {
    watchers.push(drawHeat);
    drawHeat();
  }
}
function follow(e) { // in a notebook frame, "#x" would be resolved against the notebook, so scroll there directly
  const link = e.target.closest('a[href^="#"]'), to = link && byId(link.getAttribute('href').slice(1));
  if (!to) return;
  e.preventDefault();
  const folded = to.closest('details');
  if (folded) folded.open = true;
  to.scrollIntoView();
}

paintCards();
setUpViews();
setUpCells();
setUpOrder();
setUpContents();
watchWidth();
if (map) map.redraw();
for (const item of document.querySelectorAll('main button[data-row]'))
  if (!item.closest('#items')) item.addEventListener('click', () => openDrawer(Number(item.dataset.row)));
addEventListener('resize', watchWidth);
addEventListener('keydown', e => { if (e.key === 'Escape' && drawer.open) closeDrawer(); });
if (location.protocol === 'about:') addEventListener('click', follow);
addEventListener('hashchange', () => { if (location.hash === '#how') byId('how').parentNode.open = true; });
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => { paintCards(); if (byId('tree')) drawTree(); if (mix) mix.draw(); change({ at: state.at }); });
