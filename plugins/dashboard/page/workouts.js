// Workouts: the list, and one of them with its heart rate, its zones, its elevation and its route.

import { about, ask } from './api.js';
import { card, empty, h, picker, scroll, table } from './dom.js';
import { date, distance, duration, energy, height, moment, named, pace, rate } from './format.js';
import { curves, parts, route, zones } from './workout.js';
import { t } from './words.js';

const ON_FOOT = new Set(['running', 'walking', 'hiking', 'wheelchairWalkPace', 'wheelchairRunPace', 'crossCountrySkiing']), AT_ONCE = 30;

export const draw = (frame) => (frame.rest[0] ? drawOne(frame) : drawAll(frame));

async function drawAll(frame) {
  const [person, { workouts }] = await Promise.all([about(), ask('workouts')]);
  frame.leaving.push(frame.live.on('days', () => frame.redraw()));
  const kinds = [...new Set(workouts.map((one) => one.activity))].sort(), kind = frame.options.get('activity') ?? '';
  const some = workouts.filter((one) => !kind || one.activity === kind).reverse();
  const title = h('div', { class: 'top' }, h('h1', null, t('view.workouts')), kinds.length > 1 && picker(t('activity'), [['', t('allActivities')], ...kinds.map((one) => [one, named('activity', one)])], kind, (one) => { frame.keep({ activity: one }); frame.redraw(); }, 'activity'));
  if (!some.length) return [title, card(null, null, empty(t('noWorkoutsYet')))];
  const shown = Number(frame.options.get('shown') ?? AT_ONCE), shownOr = (one, say) => (one === null || one === undefined ? '–' : say(one));
  return [title, card(null, null, scroll(t('view.workouts'), table(t('view.workouts'),
    [{ title: t('when'), left: true }, { title: t('activity'), left: true }, { title: t('length') }, { title: t('distance') }, { title: t('pace'), class: 'rank1' }, { title: t('energy'), class: 'rank1' }, { title: t('heartRate'), class: 'rank1' }, { title: t('ascent'), class: 'rank2' }],
    some.slice(0, shown).map((one) => [h('a', { href: `#/workouts/${one.id}` }, moment(one.start_date, person.zone)), named('activity', one.activity), duration(one.duration_seconds / 60), shownOr(one.distance_meters, distance),
      shownOr(one.distance_meters, (meters) => pace(one.duration_seconds, meters)), shownOr(one.active_energy_kcal, energy), shownOr(one.heart_rate_average, rate), shownOr(one.ascent_meters, height)]))),
  some.length > shown && h('p', null, h('button', { type: 'button', onclick: () => { frame.keep({ shown: some.length }); frame.redraw(); } }, t('more', { count: some.length - shown }))))];
}

async function drawOne(frame) {
  const [person, shownOr] = await Promise.all([about(), ask('workout', { id: frame.rest[0] })]);
  frame.leaving.push(frame.live.on('days', () => frame.redraw()));
  const one = asShown(shownOr.workout), tile = (title, said) => said && h('div', { class: 'tile workouts' }, h('dt', null, title), h('dd', null, said));
  const has = (number) => number !== null && number !== undefined;
  const day = new Intl.DateTimeFormat('en-CA', { timeZone: person.zone, year: 'numeric', month: '2-digit', day: '2-digit' }).format(new Date(one.start));
  const speed = has(one.distanceMeters) && one.durationSeconds > 0;
  return [h('div', { class: 'top' }, h('div', null, h('h1', null, named('activity', one.activity)), h('a', { href: `#/day/${day}` }, date(day, 'long'))), h('a', { class: 'button', href: '#/workouts' }, t('allWorkouts'))),
    h('section', { class: 'card' }, h('dl', { class: 'tiles' }, tile(t('when'), moment(one.start, person.zone)), tile(t('length'), duration(one.durationSeconds / 60)), tile(t('distance'), has(one.distanceMeters) && distance(one.distanceMeters)),
      tile(ON_FOOT.has(one.activity) || !speed ? t('pace') : t('speed'), speed && (ON_FOOT.has(one.activity) ? pace(one.durationSeconds, one.distanceMeters) : `${distance((one.distanceMeters / one.durationSeconds) * 3600)}/h`)),
      tile(t('energy'), has(one.energyKilocalories) && energy(one.energyKilocalories)), tile(t('heartRate'), has(one.heartRate?.average) && rate(one.heartRate.average)),
      tile(t('ascent'), has(one.route?.ascentMeters) && height(one.route.ascentMeters)), tile(t('descent'), has(one.route?.descentMeters) && height(one.route.descentMeters)))),
    curves({ ...shownOr, workout: one }), h('div', { class: 'pair' }, route({ ...shownOr, workout: one }), zones(one)), parts(one, person.zone)];
}

/** A workout has the form in which it is delivered to a backend; this gives its members the names used here. */
const asShown = (one) => ({ ...one, start: one.startDate, activity: one.type, durationSeconds: one.duration, distanceMeters: one.distance, energyKilocalories: one.activeEnergy });
