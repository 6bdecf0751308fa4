// Builds elements without markup in strings: anything from the store is only ever text. No style attributes: the
// content security policy refuses them.

const SVG = 'http://www.w3.org/2000/svg';

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (name.startsWith('--')) element.style.setProperty(name, value);
    else element.setAttribute(name, value === true ? '' : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);
export const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

/** A drawing: for screen readers, one image with its title. */
export const drawing = (width, height, label, ...children) =>
  s('svg', { viewBox: `0 0 ${width} ${height}`, width: '100%', role: 'img', 'aria-label': label }, ...children);

/** How wide a drawing may be, so that its letters keep their size: the width of a card, or of half of one where two stand side by side on a wide screen. */
export function room(most, halved) {
  const main = document.getElementById('main'), { paddingLeft } = getComputedStyle(main), card = innerWidth <= 760 ? 30 : 42;
  const wide = main.clientWidth - 2 * parseFloat(paddingLeft);
  return Math.round(Math.min(most, (halved && wide > 800 ? (wide - 20) / 2 : wide) - card));
}

/** Columns are {title, left, class}, rows are lists of cells; the first cell of a row names it. */
export function table(caption, columns, rows, attributes) {
  return h('table', attributes,
    h('caption', { class: 'hidden' }, caption),
    h('thead', null, h('tr', null, columns.map((column) =>
      h('th', { scope: 'col', class: [column.left && 'left', column.class].filter(Boolean).join(' ') || null }, column.title)))),
    h('tbody', null, rows.map((cells) => h('tr', null, cells.map((cell, at) => cell instanceof HTMLTableCellElement ? cell
      : h(at ? 'td' : 'th', { scope: at ? null : 'row', class: [columns[at].left && 'left', columns[at].class].filter(Boolean).join(' ') || null }, cell))))));
}

/** Content wider than the screen scrolls on its own, by keyboard too. */
export const scroll = (label, ...children) => h('div', { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': label }, ...children);

export const card = (title, controls, ...children) =>
  h('section', { class: 'card' }, title && h('div', { class: 'top' }, h('h2', null, title), controls), ...children);

export const empty = (...children) => h('p', { class: 'empty' }, ...children);

/** Text with `code` between backticks, as in the page's own words, or 'healthbus …' between quotes, as in the commands' advice. */
export const prose = (text) => text.replace(/'(healthbus [^']+)'/g, '`$1`').split('`').map((part, at) => (at % 2 ? h('code', null, part) : part));

/** A picker. Options are [value, title], or [group, [[value, title], …]]. */
export function picker(label, options, value, changed, id) {
  const option = ([name, title]) => h('option', { value: name, selected: name === value }, title);
  return h('label', null, h('span', { class: 'hidden' }, label),
    h('select', { id, onchange: (event) => changed(event.target.value) },
      options.map(([name, title]) => (Array.isArray(title) ? h('optgroup', { label: name }, title.map(option)) : option([name, title])))));
}

/** A row of buttons of which one is pressed. With an id, a button keeps the focus when its view is redrawn. */
export const choice = (label, options, value, changed, id) =>
  h('div', { class: 'group', role: 'group', 'aria-label': label }, options.map(([name, title]) =>
    h('button', { type: 'button', id: id && `${id}-${name}`, 'aria-pressed': String(name === value), onclick: () => changed(name) }, title)));
