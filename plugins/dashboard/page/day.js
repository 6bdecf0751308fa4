// One day: its figures, its hours, which source counted, the night before, workouts and rings.

import { about, ask } from './api.js';
import { chart, series } from './charts.js';
import { card, drawing, empty, h, picker, s, table } from './dom.js';
import { figures, others, value } from './figures.js';
import { date, distance, duration, energy, full, named, plain, scaled, shift, time, unitOf } from './format.js';
import { sleepOf } from './hypnogram.js';
import { sourcesOf } from './sources.js';
import { t } from './words.js';

export async function draw(frame) {
  const person = await about();
  const day = /^\d{4}-\d\d-\d\d$/.test(frame.rest[0]) ? frame.rest[0] : person.last ?? person.today;
  const [found, list] = await Promise.all([ask('day', { date: day }), figures()]);
  frame.leaving.push(frame.live.on('days', (event) => { if (event.more || event.dates.includes(day)) frame.redraw(); }));
  const head = h('div', { class: 'top' }, h('h1', null, date(day, 'long')), h('div', { class: 'turns' },
    h('a', { href: `#/day/${found.previous ?? shift(day, -1)}`, rel: 'prev' }, '‹ ', t('previousDay')), found.next && h('a', { href: `#/day/${found.next}`, rel: 'next' }, t('nextDay'), ' ›')));
  const summary = found.summary;
  if (!summary) return [head, card(null, null, empty(t('noDay')), found.previous && h('a', { href: `#/day/${found.previous}` }, date(found.previous, 'long')))];

  const zone = summary.zone ?? person.zone;
  return [head, h('p', { class: 'soft small', id: 'final' }, standing(summary)), tiles(summary, [...list, ...others([summary])]),
    hours(frame, found, list, zone), await sourcesOf(frame, day, list.filter((one) => one.explain && one.rule === 'total' && value(summary, one) !== null), zone),
    h('div', { class: 'pair' }, await sleepOf(day, summary, zone, true), h('div', null, rings(summary, found.apple), workouts(summary, zone), places(summary)))];
}

function standing(summary) {
  const said = [summary.final ? t('final') : t('notFinal')];
  if (summary.missing?.length) said.push(t('waitsFor', { names: summary.missing.join(', ') }));
  if (summary.revision > 1) said.push(t('revised', { count: summary.revision - 1 }));
  if (summary.zone) said.push(summary.zone);
  return said.join(' · ');
}

function tiles(summary, list) {
  const some = list.filter((one) => value(summary, one) !== null && !one.path.includes('Mean'));
  const tile = (figure) => {
    const unit = unitOf(figure), found = value(summary, figure);
    return h('div', { class: `tile ${figure.family}`, 'data-figure': figure.path, 'data-value': found }, h('dt', null, figure.title), h('dd', null, figure.family === 'sleep' || figure.unit === 'min' ? full(figure, found) : [plain(figure, found), unit && h('small', null, ` ${unit}`)]));
  };
  return h('section', { class: 'card' }, h('dl', { class: 'tiles' }, some.map(tile)));
}

function hours(frame, found, list, zone) {
  const some = list.filter((one) => one.hourly && found.hours?.[one.hourly]?.some((amount) => amount !== null));
  if (!some.length) return card(t('byHour'), null, empty(t('noHours')));
  const figure = some.find((one) => one.path === frame.options.get('figure')) ?? some[0];
  const starts = found.hours.start, factor = scaled(figure, 1);
  const rate = figure.path === 'heartRate.average';
  const values = (name) => (found.hours[name] ?? []).map((one) => scaled(figure, one));
  return card(t('byHour'), picker(t('figure'), some.map((one) => [one.path, one.title]), figure.path, (path) => { frame.keep({ figure: path }); frame.redraw(); }, 'figure'),
    chart({
      label: `${figure.title}, ${t('byHour')}`, labels: starts, low: true, unit: unitOf(figure), floor: figure.sums ? 0 : undefined,
      say: (one, axis) => (axis ? plain(figure, one / factor) : full(figure, one / factor)), tick: (one) => time(one, zone), place: (one) => time(one, zone),
      lines: rate ? [
        series({ title: t('figure.heartRate.average'), values: values('heartRate'), tone: figure.family }),
        series({ title: t('figure.heartRate.max'), values: values('heartRateMax'), tone: figure.family, soft: true, width: 1 }),
        series({ title: t('figure.heartRate.min'), values: values('heartRateMin'), tone: figure.family, soft: true, width: 1, fill: 1 }),
      ] : [series({ title: figure.title, values: values(figure.hourly), tone: figure.family, kind: figure.sums ? 'bar' : 'line' })],
    }));
}

/** Ours and Apple's, ring by ring. */
function rings(summary, apple) {
  const minutes = { unit: 'min', family: 'energy' }, hoursUnit = { unit: 'hours' };
  const rows = [
    ['activeEnergyKilocalories', 'activeEnergyBurned', { unit: 'kcal' }, 'heart-rate'], ['moveMinutes', 'appleMoveTime', minutes, 'heart-rate'],
    ['exerciseMinutes', 'appleExerciseTime', minutes, 'workouts'], ['standHours', 'appleStandHours', hoursUnit, 'hydration'],
  ].map(([ours, theirs, figure, tone]) => ({ path: ours, figure, tone, ours: summary[ours], apple: apple?.[theirs], goal: apple?.[`${theirs}Goal`] })).filter((row) => row.apple || row.goal);
  if (!rows.length) return card(t('rings'), null, empty(t('noRings')));
  const arc = (row, at) => {
    const radius = 58 - at * 15, around = 2 * Math.PI * radius, part = Math.min(1, (row.ours ?? 0) / (row.goal || row.apple || 1));
    return [s('circle', { class: 'ring', cx: 66, cy: 66, r: radius }), part > 0 && s('circle', { class: `ring full ${row.tone}`, cx: 66, cy: 66, r: radius, 'stroke-dasharray': `${part * around} ${around}`, transform: 'rotate(-90 66 66)' })];
  };
  const label = rows.map((row) => `${t(`figure.${row.path}`)}: ${full(row.figure, row.ours)}`).join(', ');
  return card(t('rings'), null, h('div', { class: 'rings' }, drawing(132, 132, label, rows.map(arc)),
    table(t('rings'), [{ title: t('ring') }, { title: t('ours') }, { title: t('apple') }, { title: t('goal') }],
      rows.map((row) => [t(`figure.${row.path}`), full(row.figure, row.ours), full(row.figure, row.apple), full(row.figure, row.goal)]))));
}

function workouts(summary, zone) {
  return card(t('view.workouts'), null, summary.workouts?.length ? h('ul', { class: 'list' }, summary.workouts.map((one) => h('li', null,
    h('a', { href: `#/workouts/${one.id}` }, named('activity', one.activity)), h('div', { class: 'small soft' },
      [time(one.start, zone), duration(one.durationSeconds / 60), one.distanceMeters && distance(one.distanceMeters), one.energyKilocalories && energy(one.energyKilocalories)].filter(Boolean).join(' · '))))) : empty(t('noWorkouts')));
}

/** Shown only if the stack has the plugin and the day has a visit. */
function places(summary) {
  return summary.places?.length ? card(t('places'), null, h('ul', { class: 'list', id: 'places' }, summary.places.map((one) => h('li', null, one.place, h('div', { class: 'small soft' },
    [duration(one.minutes), t('visits', { count: one.visits })].join(' · ')))))) : null;
}
