// A year of one figure: a column per week, a row per weekday; the higher the value, the stronger the colour. Arrow keys
// move through the days.

import { h, scroll } from './dom.js';
import { date, daysBetween, full, shift, weekdays, dayOf } from './format.js';
import { t } from './words.js';

const LEVELS = 5;

/** Limits that put equally many days into each level. */
function limits(values) {
  const sorted = values.filter((one) => one !== null).sort((a, b) => a - b);
  return [...Array(LEVELS - 1).keys()].map((at) => sorted[Math.floor((sorted.length * (at + 1)) / LEVELS)]);
}

const weekday = (day) => (dayOf(day).getUTCDay() + 6) % 7;

export function yearCalendar(figure, from, to, found, open) {
  const start = shift(from, -weekday(from)), weeks = Math.ceil((daysBetween(start, to) + 1) / 7);
  const valueOf = (day) => found.values[daysBetween(found.from, day)] ?? null;
  const all = [...Array(daysBetween(from, to) + 1).keys()].map((at) => shift(from, at));
  const bounds = limits(all.map(valueOf));
  const level = (one) => (one === null ? 'none' : 1 + bounds.filter((limit) => one >= limit).length);
  const last = all.findLast((day) => valueOf(day) !== null) ?? to;

  const cell = (day) => {
    if (day < from || day > to) return h('td');
    const one = valueOf(day);
    return h('td', null, h('button', { type: 'button', class: `cell l${level(one)}`, tabindex: day === last ? 0 : -1, 'data-date': day, 'data-value': one,
      'aria-label': `${date(day)}: ${one === null ? t('noValue') : full(figure, one)}`, title: `${date(day)}: ${one === null ? t('noValue') : full(figure, one)}`, onclick: () => open(day) }));
  };
  const names = weekdays('short');
  const months = [...Array(weeks).keys()].map((week) => {
    const day = [...Array(7).keys()].map((at) => shift(start, 7 * week + at)).find((one) => one.slice(8) === '01' && one >= from && one <= to);
    return h('td', { class: 'month' }, day ? date(day, 'month') : '');
  });
  const grid = h('table', { class: `year ${figure.family}`, 'data-figure': figure.path }, h('caption', { class: 'hidden' }, t('calendarHelp')),
    h('tbody', null, h('tr', { 'aria-hidden': 'true' }, h('td'), months),
      names.map((name, row) => h('tr', null, h('th', { scope: 'row' }, h('span', { class: row % 2 ? 'hidden' : null }, name)), [...Array(weeks).keys()].map((week) => cell(shift(start, 7 * week + row)))))));

  grid.addEventListener('keydown', (event) => {
    const step = { ArrowLeft: -7, ArrowRight: 7, ArrowUp: -1, ArrowDown: 1 }[event.key], at = event.target.dataset.date;
    const next = event.key === 'Home' ? from : event.key === 'End' ? to : step && at ? shift(at, step) : null;
    const button = next && grid.querySelector(`[data-date="${next}"]`);
    if (!button) return;
    event.preventDefault();
    event.target.tabIndex = -1; button.tabIndex = 0; button.focus();
  });
  const box = scroll(t('calendarOf', { figure: figure.title }), grid);
  // A year is wider than a phone's screen: the newest days should be seen first.
  requestAnimationFrame(() => { box.scrollLeft = box.scrollWidth; });
  const some = all.map(valueOf).filter((one) => one !== null);
  return [box, h('p', { class: `scale small soft ${figure.family}` }, some.length ? [full(figure, Math.min(...some)), [...Array(LEVELS).keys()].map((at) => h('i', { class: `cell l${at + 1}` })), full(figure, Math.max(...some))] : t('noValues'))];
}
