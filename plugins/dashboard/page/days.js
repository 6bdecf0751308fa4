// How fresh the data is, the last seven days, a year of any figure as a calendar, and its trend.

import { about, ask } from './api.js';
import { chart, series } from './charts.js';
import { card, choice, empty, h, picker, prose } from './dom.js';
import { freshness } from './fresh.js';
import { byFamily, figures, find, mean, means, others, value } from './figures.js';
import { date, daysBetween, duration, full, named, percent, plain, scaled, shift, unitOf } from './format.js';
import { yearCalendar } from './calendar.js';
import { t } from './words.js';

/** The columns of the week, each with its rank: a narrow screen shows only those of the lowest ranks. */
const WEEK = [['steps', 0], ['activeEnergyKilocalories', 1], ['sleep.asleepMinutes', 0], ['heartRate.resting', 1], ['exerciseMinutes', 2], ['distanceMeters', 2], ['hrvSDNNMilliseconds', 3], ['bodyMassKilograms', 3]];
const SPANS = { 90: 90, 365: 365, all: Infinity };

export async function draw(frame) {
  const [person, list, week] = await Promise.all([about(), figures(), ask('days')]);
  const fresh = freshness(frame, person);
  const title = h('div', { class: 'top' }, h('h1', null, t('view.days')), person.last && h('p', { class: 'soft' }, t('dataFromTo', { from: date(person.first), to: date(person.last) })));
  if (!person.last) {
    frame.leaving.push(frame.live.on('days', () => frame.redraw()));
    return [title, card(t('noDataTitle'), null, empty(prose(t('noData'))), h('p', null, h('a', { href: '#/import' }, t('goImport')))), fresh];
  }

  const glance = h('div'), rest = h('div');
  drawWeek(glance, week.days, list);
  let extra = others(week.days);
  // A week may lack occasional measurements: they are fetched at once if requested, otherwise after the page is drawn.
  const more = async () => { extra = others((await ask('days', { last: 90 })).days); };
  const wanted = frame.options.get('figure');
  const asked = wanted?.startsWith('other.') && !extra.some((one) => one.path === wanted);
  if (asked) await more();
  await drawFigure(frame, rest, person, [...list, ...extra]);
  if (!asked) more().then(() => frame.current() && offer(rest, [...list, ...extra]), () => {});
  frame.leaving.push(frame.live.on('days', async (found) => {
    const [again, now] = await Promise.all([ask('days'), about()]);
    if (!frame.current()) return;
    if (!now.last) { frame.redraw(); return; }
    drawWeek(glance, again.days, list, new Set(found.dates));
    await drawFigure(frame, rest, now, [...list, ...extra]);
  }));
  return [title, fresh, glance, rest];
}

function drawWeek(into, days, list, changed = new Set()) {
  const shown = WEEK.map(([path, rank]) => [list.find((one) => one.path === path), rank]).filter(([figure]) => figure && days.some((day) => value(day, figure) !== null));
  const most = new Map(shown.map(([figure]) => [figure, Math.max(...days.map((day) => value(day, figure) ?? 0))]));
  into.replaceChildren(card(t('lastSeven'), null, h('div', { class: 'fits' }, h('table', { class: 'week' },
    h('caption', { class: 'hidden' }, t('lastSeven')),
    h('thead', null, h('tr', null, h('th', { scope: 'col' }, t('day')), shown.map(([figure, rank]) => h('th', { scope: 'col', class: `rank${rank}` }, figure.title)), h('th', { scope: 'col', class: 'left rank1' }, t('view.workouts')))),
    h('tbody', null, [...days].reverse().map((day) => h('tr', { class: changed.has(day.date) ? 'changed' : null, 'data-date': day.date },
      h('th', { scope: 'row' }, h('a', { href: `#/day/${day.date}` }, h('span', { class: 'weekday' }, date(day.date, 'weekday')), ' ', date(day.date, 'short')),
        day.final ? null : h('span', { class: 'small soft' }, ` ${t('provisional')}`)),
      shown.map(([figure, rank]) => {
        const found = value(day, figure);
        return h('td', { class: `rank${rank} ${figure.family}`, 'data-figure': figure.path, 'data-value': found }, full(figure, found),
          figure.sums || figure.family === 'sleep' ? h('span', { class: 'bar', '--part': found && most.get(figure) ? `${(100 * found) / most.get(figure)}%` : '0%' }) : null);
      }),
      h('td', { class: 'left rank1 small' }, (day.workouts ?? []).map((one, at) => [at ? ', ' : '', h('a', { href: `#/workouts/${one.id}` }, `${named('activity', one.activity)} ${duration(one.durationSeconds / 60)}`)])))))))));
}

/** Adds figures found later to the picker, which may be in use. */
function offer(into, list) {
  const select = into.querySelector('#figure'), groups = byFamily(list);
  for (const [name, options] of groups) {
    const group = [...select.querySelectorAll('optgroup')].find((one) => one.label === name) ?? select.appendChild(h('optgroup', { label: name }));
    for (const [path, title] of options) if (![...group.children].some((one) => one.value === path)) group.append(h('option', { value: path }, title));
  }
}

let turn = 0;

async function drawFigure(frame, into, person, list) {
  turn += 1;
  const mine = turn;
  const figure = find(list, frame.options.get('figure') ?? 'steps');
  const years = [...Array(Number(person.last.slice(0, 4)) - Number(person.first.slice(0, 4)) + 1).keys()].map((at) => String(Number(person.last.slice(0, 4)) - at));
  const rolling = 'rolling', year = frame.options.get('year') ?? rolling;
  const found = await columns(figure, person);
  // If figures are picked in quick succession, only the last one counts.
  if (mine !== turn) return;
  const change = (changed) => { frame.keep(changed); drawFigure(frame, into, person, list); };
  const [from, to] = year === rolling ? [shift(person.last, -364), person.last] : [`${year}-01-01`, `${year}-12-31`];
  const held = document.activeElement?.id;
  into.replaceChildren(
    card(t('calendarOf', { figure: figure.title }), h('div', { class: 'controls' },
      picker(t('figure'), byFamily(list), figure.path, (path) => (find(list, path).path === path ? change({ figure: path }) : frame.reload({ figure: path })), 'figure'),
      picker(t('year'), [[rolling, t('lastYear')], ...years.map((one) => [one, one])], year, (one) => change({ year: one }), 'year')),
    yearCalendar(figure, from, to, found, (day) => frame.go(`#/day/${day}`))),
    trend(figure, found, frame, change));
  if (held) document.getElementById(held)?.focus();
}

/** A figure's values, one for each day from the first to the last. */
async function columns(figure, person) {
  const from = person.first, days = daysBetween(from, person.last) + 1, values = Array(days).fill(null);
  if (figure.member) {
    for (let at = from; at <= person.last; at = shift(at, 400)) for (const day of (await ask('days', { from: at, to: shift(at, 399) })).days) values[daysBetween(from, day.date)] = value(day, figure);
  } else {
    const found = await ask('series', { figures: figure.path });
    found.dates.forEach((one, at) => { const place = daysBetween(from, one); if (place >= 0 && place < days) values[place] = found.values[figure.path][at]; });
  }
  return { from, values, dates: values.map((_, at) => shift(from, at)) };
}

function trend(figure, found, frame, change) {
  const span = frame.options.get('span') ?? '90';
  const first = Math.max(0, found.values.length - (SPANS[span] ?? 90));
  const cut = (values) => values.slice(first).map((one) => scaled(figure, one));
  const labels = found.dates.slice(first), back = scaled(figure, 1);
  const say = (one, axis) => (axis ? plain(figure, one / back) : full(figure, one / back));
  return card(t('trendOf', { figure: figure.title }), choice(t('span'), [['90', t('days90')], ['365', t('year1')], ['all', t('allTime')]], span in SPANS ? span : '90', (one) => change({ span: one }), 'span'),
    h('div', { class: 'compare' }, [7, 30].map((width) => compare(figure, found.values, width))),
    chart({
      label: t('trendOf', { figure: figure.title }), labels, unit: unitOf(figure), floor: figure.sums ? 0 : undefined, say,
      lines: [
        series({ title: t('mean7'), values: cut(means(found.values, 7)), tone: figure.family }),
        series({ title: t('mean30'), values: cut(means(found.values, 30)), tone: 'soft', dash: [5, 4], width: 1.5 }),
        // Days narrower than a pixel would show nothing.
        labels.length < 800 && series({ title: t('eachDay'), values: cut(found.values), tone: figure.family, kind: figure.sums ? 'bar' : 'line', soft: true, width: 1, points: !figure.sums }),
      ].filter(Boolean),
      tick: (one) => date(one, labels.length > 200 ? 'monthYear' : 'short'), place: (one) => date(one), pick: (at) => frame.go(`#/day/${labels[at]}`),
    }));
}

/** The mean of the last days, beside that of the same number of days before. */
function compare(figure, values, width) {
  const now = mean(values.slice(-width)), before = values.length > width ? mean(values.slice(-2 * width, -width)) : null;
  return h('p', null, h('span', { class: 'soft small' }, t('lastDays', { count: width })), h('strong', null, full(figure, now)),
    now !== null && before ? h('span', { class: 'small' }, t('comparedWith', { change: percent((now - before) / Math.abs(before), 0, { signDisplay: 'exceptZero' }), before: full(figure, before) })) : h('span', { class: 'soft small' }, t('nothingBefore')));
}
