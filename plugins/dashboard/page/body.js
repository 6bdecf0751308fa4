// Weight and other body measurements: the values, and a line through them.

import { about, ask } from './api.js';
import { chart, series } from './charts.js';
import { card, choice, empty, h } from './dom.js';
import { figures, means } from './figures.js';
import { date, daysBetween, full, plain, scaled, shift, unitOf } from './format.js';
import { t } from './words.js';

const SPANS = { 90: 90, 365: 365, all: Infinity };

export async function draw(frame) {
  const [person, all] = await Promise.all([about(), figures()]);
  frame.leaving.push(frame.live.on('days', () => frame.redraw()));
  const span = frame.options.get('span') in SPANS ? frame.options.get('span') : '365';
  const list = all.filter((one) => one.family === 'body' && !one.path.includes('Mean'));
  const found = list.length ? await ask('series', { figures: list.map((one) => one.path).join() }) : { dates: [], values: {} };
  const title = h('div', { class: 'top' }, h('h1', null, t('view.body')), choice(t('span'), [['90', t('days90')], ['365', t('year1')], ['all', t('allTime')]], span, (one) => { frame.keep({ span: one }); frame.redraw(); }, 'span'));
  const cards = list.map((figure) => curve(figure, found, person, SPANS[span])).filter(Boolean);
  return [title, cards.length ? cards : card(null, null, empty(t('bodyNone')))];
}

function curve(figure, found, person, span) {
  const all = found.values[figure.path] ?? [], last = all.findLastIndex((one) => one !== null);
  if (last < 0) return null;
  const begin = found.dates[all.findIndex((one) => one !== null)], days = daysBetween(begin, person.last) + 1, values = Array(days).fill(null);
  found.dates.forEach((day, at) => { if (day >= begin && day <= person.last) values[daysBetween(begin, day)] = all[at]; });
  const first = Math.max(0, days - span), labels = values.map((_, at) => shift(begin, at)).slice(first), back = scaled(figure, 1);
  const cut = (some) => some.slice(first).map((one) => scaled(figure, one));
  const head = h('p', null, h('strong', null, full(figure, all[last])), h('span', { class: 'soft small' }, ` ${date(found.dates[last])}`));
  if (values.filter((one) => one !== null).length < 3) return card(figure.title, null, h('div', { class: 'compare' }, head));
  const before = daysBetween(begin, found.dates[last]) - 365;
  return card(figure.title, null, h('div', { class: 'compare' }, head, before >= 0 && values[before] !== null && h('p', { class: 'small' }, t('comparedWith', { change: full(figure, all[last] - values[before]), before: full(figure, values[before]) }))),
    chart({
      label: figure.title, labels, unit: unitOf(figure), say: (one, axis) => (axis ? plain(figure, one / back) : full(figure, one / back)), tick: (one) => date(one, labels.length > 200 ? 'monthYear' : 'short'), place: (one) => date(one),
      lines: [series({ title: t('smoothed'), values: cut(means(values, 14)), tone: 'body', width: 2.5 }), series({ title: t('measured'), values: cut(values), tone: 'body', soft: true, width: 0, points: true })],
    }));
}
