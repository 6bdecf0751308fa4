// Nights: their times, their regularity, the stages of one, and naps.

import { about, ask } from './api.js';
import { asTable, chart, series } from './charts.js';
import { card, choice, drawing, empty, h, room, s } from './dom.js';
import { mean } from './figures.js';
import { date, duration, hourOf, number, percent, time } from './format.js';
import { sleepOf } from './hypnogram.js';
import { t } from './words.js';

const SPANS = { 30: 30, 90: 90, all: Infinity }, HEIGHT = 260, LEFT = 48;

export async function draw(frame) {
  const person = await about(), span = frame.options.get('span') in SPANS ? frame.options.get('span') : '30';
  const { nights } = await ask('nights', span === 'all' ? { from: person.first, to: person.last } : null);
  frame.leaving.push(frame.live.on('days', () => frame.redraw()));
  const main = nights.filter((one) => one.main).slice(-SPANS[span]), naps = nights.filter((one) => !one.main && one.asleep_minutes !== null && (!main.length || one.date >= main[0].date));
  const title = h('div', { class: 'top' }, h('h1', null, t('view.nights')), choice(t('weeks'), [['30', t('days30')], ['90', t('nights90')], ['all', t('allNights')]], span, (one) => { frame.keep({ span: one }); frame.redraw(); }, 'span'));
  if (!main.length) return [title, card(null, null, empty(t('noNights')))];

  const day = main.some((one) => one.date === frame.rest[0]) ? frame.rest[0] : main.at(-1).date;
  const { days: [summary] } = await ask('days', { from: day, to: day });
  return [title, regularity(main, person.zone),
    card(t('sleepTimes'), null, h('p', { class: 'small soft' }, t('sleepTimesHelp')), times(main, day, person.zone)),
    await sleepOf(day, summary, summary?.zone ?? person.zone, false, h('a', { href: `#/day/${day}` }, t('hypnogram', { date: date(day) }))),
    lengths(main, frame),
    card(t('napsTitle'), null, naps.length ? h('ul', { class: 'list' }, naps.slice().reverse().map((one) => h('li', null, h('a', { href: `#/day/${one.date}` }, date(one.date)), ` ${time(one.start_date, person.zone)} – ${time(one.end_date, person.zone)}, ${duration(one.asleep_minutes)}`))) : empty(t('noNaps')))];
}

/** Hours since noon, so that no night is cut at midnight. */
const sinceNoon = (instant, zone) => (hourOf(instant, zone) + 12) % 24;
const clock = (hours) => { const minutes = Math.round(((hours + 12) % 24) * 60) % 1440; return time(Date.UTC(2024, 0, 1, 0, minutes), 'UTC'); };

function deviation(values) {
  const middle = mean(values);
  return Math.sqrt(mean(values.map((one) => (one - middle) ** 2)));
}

function regularity(nights, zone) {
  const starts = nights.map((one) => sinceNoon(one.start_date, zone)), lengths = nights.map((one) => (Date.parse(one.end_date) - Date.parse(one.start_date)) / 3.6e6);
  const middles = starts.map((one, at) => one + lengths[at] / 2), asleep = nights.map((one) => one.asleep_minutes);
  const tile = (title, found, note) => h('div', { class: 'tile sleep' }, h('dt', null, title), h('dd', null, found, note && h('div', { class: 'note' }, note)));
  return h('section', { class: 'card' }, h('dl', { class: 'tiles' },
    mean(asleep) !== null && tile(t('meanAsleep'), duration(mean(asleep))), tile(t('meanBed'), clock(mean(starts))), tile(t('meanUp'), clock(mean(starts.map((one, at) => one + lengths[at])))),
    nights.length > 2 && tile(t('regularity'), `± ${duration(deviation(middles) * 60)}`, t('regularityNote'))));
}

/** One bar per night, with the clock running from top to bottom. */
function times(nights, chosen, zone) {
  const WIDTH = room(1100);
  const starts = nights.map((one) => sinceNoon(one.start_date, zone)), ends = nights.map((one, at) => starts[at] + (Date.parse(one.end_date) - Date.parse(one.start_date)) / 3.6e6);
  const first = Math.floor(Math.min(...starts)), last = Math.ceil(Math.max(...ends));
  const y = (hour) => 8 + ((hour - first) / (last - first)) * (HEIGHT - 36), step = (WIDTH - LEFT - 8) / nights.length;
  const hours = [...Array(last - first + 1).keys()].map((at) => first + at).filter((hour) => (last - first < 12 || hour % 2 === 0));
  const every = Math.ceil((nights.length * 90) / WIDTH), label = `${t('sleepTimes')}, ${date(nights[0].date)} – ${date(nights.at(-1).date)}`;
  return h('div', null, drawing(WIDTH, HEIGHT, label,
    hours.map((hour) => [s('line', { class: 'grid', x1: LEFT, x2: WIDTH, y1: y(hour), y2: y(hour) }), s('text', { x: 0, y: y(hour) + 4 }, clock(hour))]),
    nights.map((one, at) => [
      s('rect', { class: `stage ${one.date === chosen ? 'deep' : 'rem'}`, x: LEFT + at * step + step * 0.15, width: Math.max(1, step * 0.7), y: y(starts[at]), height: Math.max(1, y(ends[at]) - y(starts[at])), rx: Math.min(4, step / 3), 'data-date': one.date },
        s('title', null, `${date(one.date)}: ${time(one.start_date, zone)} – ${time(one.end_date, zone)}`)),
      at % every === 0 && s('text', { x: LEFT + at * step, y: HEIGHT - 6 }, date(one.date, 'short'))])),
  asTable(label, { columns: [{ title: t('night') }, { title: t('from') }, { title: t('to') }, { title: t('asleep') }, { title: t('stage.deep') }, { title: t('stage.rem') }, { title: t('efficiency') }],
    rows: nights.slice().reverse().map((one) => [h('a', { href: `#/nights/${one.date}` }, date(one.date)), time(one.start_date, zone), time(one.end_date, zone), ...[one.asleep_minutes, one.deep_minutes, one.rem_minutes].map((minutes) => (minutes === null ? '–' : duration(minutes))), one.efficiency === null ? '–' : percent(one.efficiency)]) }));
}

function lengths(nights, frame) {
  const kinds = [['deep_minutes', 'deep'], ['core_minutes', 'core'], ['rem_minutes', 'rem'], ['unspecified_minutes', 'unspecified']].filter(([member]) => nights.some((one) => one[member]));
  if (!kinds.length) return null;
  return card(t('stagesByNight'), null, chart({
    label: t('stagesByNight'), labels: nights.map((one) => one.date), floor: 0, unit: 'h', say: (one, axis) => (axis ? number(one) : duration(one * 60)), tick: (one) => date(one, 'short'), place: (one) => date(one),
    lines: kinds.map(([member, stage]) => series({ title: t(`stage.${stage}`), values: nights.map((one) => (one[member] ?? 0) / 60), tone: stage, kind: 'bar', stack: 'night' })), pick: (at) => frame.go(`#/nights/${nights[at].date}`),
  }));
}
