// Which source counted: a lane for each, filled where it counted, outlined where a different one did.

import { ask, Refusal } from './api.js';
import { asTable } from './charts.js';
import { card, drawing, empty, h, picker, room, s } from './dom.js';
import { full, time } from './format.js';
import { t } from './words.js';

const LANE = 22, GAP = 26, LEFT = 4;

export async function sourcesOf(frame, day, list, zone) {
  if (!list.length) return null;
  const figure = list.find((one) => one.path === frame.options.get('counted')) ?? list[0];
  let found;
  try { found = await ask('explain', { date: day, figure: figure.explain }); } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return card(t('sources'), null, empty(error.message));
  }
  const pick = picker(t('figure'), list.map((one) => [one.path, one.title]), figure.path, (path) => { frame.keep({ counted: path }); frame.redraw(); }, 'counted');
  return card(t('sources'), pick, found.intervals?.length && found.hours?.length ? lanes(found, figure, zone) : empty(t('noSources')));
}

function lanes(found, figure, zone) {
  const WIDTH = room(1100);
  const begin = Date.parse(found.hours[0].start), end = Date.parse(found.hours.at(-1).end);
  const x = (instant) => LEFT + ((Math.min(end, Math.max(begin, Date.parse(instant))) - begin) / (end - begin)) * (WIDTH - 2 * LEFT);
  const sums = new Map();
  for (const one of found.intervals) {
    sums.set(one.counted, (sums.get(one.counted) ?? 0) + (one.amount ?? 0));
    for (const name of one.covered) if (!sums.has(name)) sums.set(name, 0);
  }
  const names = [...sums.keys()].sort((a, b) => sums.get(b) - sums.get(a));
  const bottom = names.length * (LANE + GAP) + 4;
  const rect = (one, lane, kind) => s('rect', { class: kind, x: x(one.start), y: GAP + lane * (LANE + GAP), width: Math.max(1, x(one.end) - x(one.start)), height: LANE });
  const ticks = found.hours.filter((_, at) => at % (WIDTH < 500 ? 6 : 3) === 0);
  const label = names.map((name) => `${name}: ${full(figure, sums.get(name))}`).join(', ');
  return h('div', { class: figure.family }, h('p', { class: 'small soft' }, t('sourcesHelp')),
    h('div', null, drawing(WIDTH, bottom + 22, `${t('sources')}. ${label}`,
      ticks.map((hour) => [s('line', { class: 'grid', x1: x(hour.start), x2: x(hour.start), y1: 0, y2: bottom }), s('text', { x: x(hour.start) + 3, y: bottom + 16 }, time(hour.start, zone))]),
      names.map((name, lane) => [s('text', { x: LEFT, y: GAP + lane * (LANE + GAP) - 7 }, `${name} · ${full(figure, sums.get(name))}`), s('rect', { class: 'lane', x: LEFT, y: GAP + lane * (LANE + GAP), width: WIDTH - 2 * LEFT, height: LANE })]),
      found.intervals.map((one) => [rect(one, names.indexOf(one.counted), 'counted'), one.covered.map((name) => rect(one, names.indexOf(name), 'covered'))]))),
    asTable(t('sources'), { columns: [{ title: t('from') }, { title: t('to') }, { title: t('counted'), left: true }, { title: t('covered'), left: true }, { title: t('added') }],
      rows: found.intervals.map((one) => [time(one.start, zone), time(one.end, zone), one.counted, one.covered.join(', '), full(figure, one.amount)]) }));
}
