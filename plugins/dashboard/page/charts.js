// Charts drawn by Chart.js (Debian's copy, served from this machine). Each comes with its numbers as a table, for
// people who can't see it.

import { h, scroll, table } from './dom.js';
import { t } from './words.js';

let loading = null, failures = 0;
const drawn = new Set();
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();

/** The library is a separate file, loaded with this module. It is a plain script, so it defines a global name. */
const library = () => (loading ??= import(new URL(failures ? `lib/chart.js?${failures}` : 'lib/chart.js', document.baseURI)).then(() => {
  const { Chart } = globalThis;
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.animation = false;
  Chart.defaults.maintainAspectRatio = false;
  Chart.defaults.plugins.legend.display = false;
  return Chart;
}).catch((error) => {
  // The next chart tries again. Many browsers remember that an address failed, so it gets another one.
  loading = null;
  failures += 1;
  throw error;
}));

// The library is loaded while the view is still fetching its data. Code that needs it waits, and gets an error if
// loading fails.
library().catch(() => {});

/** Releases charts whose view is gone. */
function prune() {
  for (const one of drawn) if (!one.canvas.isConnected) { one.destroy(); drawn.delete(one); }
}

/** Waits until an element has its place on the page, since a chart takes its size from it. */
const placed = (element) => new Promise((done) => {
  const watch = new ResizeObserver(() => { if (element.isConnected) { watch.disconnect(); done(); } });
  watch.observe(element);
});

/** A line or bars in the colour of a family. `soft` is drawn behind, `fill` is what the line is filled to. */
export function series({ title, values, tone, kind = 'line', soft = false, width = 2, dash, stack, points = false, fill, axis }) {
  return { title, values, tone, kind, soft, width, dash, stack, points, fill, axis };
}

function dataset(one, Chart) {
  const stroke = colour(one.tone ?? 'other');
  const faint = Chart.helpers.color(stroke).alpha(one.soft ? 0.32 : 1).rgbString();
  return {
    type: one.kind, label: one.title, data: one.values, yAxisID: one.axis ?? 'y', stack: one.stack, order: one.soft ? 2 : 1,
    borderColor: stroke, backgroundColor: one.kind === 'bar' ? faint : one.fill ? Chart.helpers.color(stroke).alpha(0.18).rgbString() : stroke,
    borderWidth: one.kind === 'bar' ? 0 : one.width, borderDash: one.dash, fill: one.fill ?? false, spanGaps: one.points ? 40 : false,
    borderRadius: one.kind === 'bar' ? 3 : 0, pointRadius: one.points ? 2.5 : 0, pointHitRadius: 12, tension: 0, maxBarThickness: 28,
  };
}

/**
 * `labels` are categories, or numbers for a line over time (`linear`). `tick` formats a label on the axis, `say` a value with its unit, `place` a label in full.
 * `numbers` are {columns, rows} for the table; without them, the table shows labels and series.
 */
export function chart({ label, labels, lines, tick, say, place = tick, low = false, linear = false, floor, pick, unit, numbers, reverse, step }) {
  const canvas = h('canvas', { role: 'img', 'aria-label': label });
  const box = h('div', { class: low ? 'chart low' : 'chart' }, canvas);
  Promise.all([library(), placed(box)]).then(([Chart]) => {
    prune();
    if (!canvas.isConnected) return;
    const ink = colour('soft'), line = colour('line');
    const made = new Chart(canvas, {
      type: lines.every((one) => one.kind === 'bar') ? 'bar' : 'line',
      data: { labels: linear ? undefined : labels, datasets: lines.map((one) => dataset(linear ? { ...one, values: one.values.map((y, at) => ({ x: labels[at], y })) } : one, Chart)) },
      options: {
        interaction: { mode: 'index', intersect: false }, parsing: linear ? undefined : { xAxisKey: 'x' }, normalized: true,
        onClick: pick && ((_, hits) => { if (hits.length) pick(hits[0].index); }),
        scales: {
          x: {
            type: linear ? 'linear' : 'category', stacked: lines.some((one) => one.stack), grid: { display: false }, border: { color: line },
            ...(linear ? { min: labels[0], max: labels.at(-1) } : {}),
            ticks: { color: ink, maxRotation: 0, autoSkipPadding: 16, stepSize: step, callback(value) { return tick(linear ? value : labels[value], value); } },
          },
          y: {
            stacked: lines.some((one) => one.stack), beginAtZero: floor === 0, suggestedMin: floor || undefined, reverse, grid: { color: line, drawBorder: false },
            ticks: { color: ink, maxTicksLimit: 6, callback: (value) => say(value, true) }, title: { display: Boolean(unit), text: unit, color: ink },
          },
        },
        plugins: { tooltip: { callbacks: {
          title: (hits) => (hits.length ? place(linear ? hits[0].parsed.x : labels[hits[0].dataIndex], hits[0].dataIndex) : ''),
          label: (hit) => (hit.parsed.y === null ? null : `${hit.dataset.label}: ${say(hit.parsed.y)}`),
        } } },
      },
    });
    drawn.add(made);
  });
  const shown = numbers ?? {
    columns: [{ title: '' }, ...lines.map((one) => ({ title: one.title }))],
    rows: labels.map((name, at) => [place(name, at), ...lines.map((one) => (one.values[at] === null || one.values[at] === undefined ? '–' : say(one.values[at])))]),
  };
  return h('div', null, box, lines.length > 1 && legend(lines.map((one) => [one.tone, one.title, one.soft])), asTable(label, shown));
}

export const legend = (items) => h('ul', { class: 'legend' }, items.map(([tone, title, soft]) =>
  h('li', null, h('i', { '--tone': `var(--${tone})`, class: soft ? 'soft-key' : null }), title)));

/** The table is made when it is opened. */
export function asTable(label, { columns, rows }) {
  const details = h('details', { class: 'numbers' }, h('summary', null, t('numbers')));
  details.addEventListener('toggle', () => { if (details.open && details.childElementCount === 1) details.append(scroll(label, table(label, columns, rows))); });
  return details;
}
