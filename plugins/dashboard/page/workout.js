// A workout's pictures: its heart rate, its zones, its elevation, its route.

import { chart, series } from './charts.js';
import { card, drawing, empty, h, room, s, scroll, table } from './dom.js';
import { clockSeconds, distance, height, moment, named, number, pace, rate, scaled, unit, unitOf } from './format.js';
import { t } from './words.js';

export function curves({ workout, heartRate, track }) {
  const bpm = { unit: 'count/min' }, feet = { unit: 'm', short: true };
  const over = (title, label, course, values, figure, tone, say, fill) => card(title, null, chart({
    label, labels: course.seconds, linear: true, low: true, unit: unitOf(figure), lines: [series({ title, values, tone, fill, width: 2 })],
    tick: (one) => clockSeconds(one), say: (one, axis) => (axis ? number(one) : say(one)), step: Math.max(60, Math.ceil(course.seconds.at(-1) / 480) * 60),
    numbers: { columns: [{ title: t('time') }, { title }], rows: course.seconds.map((second, at) => [clockSeconds(second), values[at] === null ? '–' : say(values[at])]) },
  }));
  const heights = track?.elevation?.some((one) => one !== null) ? track.elevation.map((one) => scaled(feet, one)) : null;
  const speeds = track && workout.distanceMeters ? paces(track) : null;
  return [
    heartRate?.values.length ? over(t('heartRateOver'), t('heartRateOver'), heartRate, heartRate.values, bpm, 'heart-rate', rate) : card(t('heartRateOver'), null, empty(t('noHeartRate'))),
    heights && over(t('elevation'), t('elevation'), track, heights, feet, 'workouts', (one) => height(one / scaled(feet, 1)), 'start'),
    speeds && card(t('paceOver'), null, chart({
      label: t('paceOver'), labels: speeds.map((one) => one.until), floor: 0, low: true, lines: [series({ title: t('pace'), values: speeds.map((one) => one.seconds), tone: 'workouts', kind: 'bar' })],
      unit: unit('distance') === 'mi' ? 'min/mi' : 'min/km', tick: (one) => distance(one), place: (one) => distance(one), say: (one, axis) => (axis ? clockSeconds(one) : pace(one, unit('distance') === 'mi' ? 1609.344 : 1000)),
    })),
  ];
}

const RADIUS = 6_371_008.8, rad = (degrees) => (degrees * Math.PI) / 180;
function meters(track, at) {
  const [a, b] = [rad(track.latitude[at - 1]), rad(track.latitude[at])], across = rad(track.longitude[at] - track.longitude[at - 1]);
  return 2 * RADIUS * Math.asin(Math.min(1, Math.sqrt(Math.sin((b - a) / 2) ** 2 + Math.cos(a) * Math.cos(b) * Math.sin(across / 2) ** 2)));
}

/** Seconds for each kilometre or mile of the route. The incomplete one at the end is left out. */
function paces(track) {
  const each = unit('distance') === 'mi' ? 1609.344 : 1000, found = [];
  let gone = 0, began = track.seconds[0];
  for (let at = 1; at < track.seconds.length; at += 1) {
    const step = meters(track, at), span = track.seconds[at] - track.seconds[at - 1];
    for (let next = (found.length + 1) * each; step > 0 && gone + step >= next; next += each) {
      const when = track.seconds[at - 1] + (span * (next - gone)) / step;
      found.push({ until: next, seconds: when - began });
      began = when;
    }
    gone += step;
  }
  return found.length > 1 ? found : null;
}

export function zones(workout) {
  const some = workout.heartRateZones;
  if (!some?.length) return null;
  const longest = Math.max(...some.map((one) => one.seconds), 1);
  const limits = (one) => (one.from === null ? t('below', { to: rate(one.to) }) : one.to === null ? t('above', { from: rate(one.from) }) : `${number(one.from)}–${rate(one.to)}`);
  return card(t('zones'), null, table(t('zones'), [{ title: t('zone') }, { title: t('range'), left: true }, { title: '' }, { title: t('time') }],
    some.map((one) => [String(one.zone), limits(one), h('span', { class: 'meter heart-rate', '--part': `${(100 * one.seconds) / longest}%` }), clockSeconds(one.seconds)]), { class: 'zones' }));
}

/** The activities of a workout that has several, its laps and its segments. */
export function parts(workout, zone) {
  const kind = (one) => one.type.replace('HKWorkoutEventType', '').toLowerCase();
  const activities = workout.activities?.length > 1 ? workout.activities.map((one) => ({ ...one, title: named('activity', one.activity) })) : [];
  const marked = (workout.events ?? []).filter((one) => one.start && one.end && ['lap', 'segment'].includes(kind(one)))
    .map((one) => ({ ...one, title: t(kind(one)), stroke: one.metadata?.HKSwimmingStrokeStyle }));
  const some = [...activities, ...marked], seconds = (one) => one.durationSeconds ?? (new Date(one.end) - new Date(one.start)) / 1000;
  if (!some.length) return null;
  const shownOr = (one, say) => (one === null || one === undefined ? '–' : say(one));
  return card(t('parts'), null, scroll(t('parts'), table(t('parts'), [{ title: t('part'), left: true }, { title: t('when'), left: true }, { title: t('length') }, { title: t('distance') }, { title: t('strokes') }],
    some.map((one) => [one.title, moment(one.start, zone), clockSeconds(seconds(one)), shownOr(one.distanceMeters, distance),
      one.stroke ? named('stroke', one.stroke) : shownOr(one.swimmingStrokes, number)]))));
}

/** The route, drawn from its points alone: degrees are projected flat around its middle, so that its shape is right. */
export function route({ workout, track }) {
  if (!track || track.latitude.length < 2) return card(t('track'), null, empty(t('noTrack')));
  const middle = (Math.min(...track.latitude) + Math.max(...track.latitude)) / 2, squeeze = Math.cos(rad(middle));
  const xs = track.longitude.map((one) => one * squeeze), ys = track.latitude.map((one) => -one);
  const [left, top] = [Math.min(...xs), Math.min(...ys)], wide = Math.max(...xs) - left, tall = Math.max(...ys) - top;
  const width = room(560, true), tallest = 400, edge = 18, scale = Math.min((width - 2 * edge) / (wide || 1e-9), (tallest - 2 * edge) / (tall || 1e-9));
  const tallness = Math.max(80, tall * scale + 2 * edge), shift = (width - wide * scale) / 2, drop = (tallness - tall * scale) / 2;
  const points = xs.map((one, at) => [shift + (one - left) * scale, drop + (ys[at] - top) * scale]);
  const perMeter = scale * (180 / Math.PI / RADIUS), wanted = [10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 50_000].find((one) => one * perMeter > 60) ?? 100_000;
  const mark = ([x, y], kind, title) => [s('circle', { class: kind, cx: x, cy: y, r: 6 }), s('text', { x: x + 9, y: y + 4 }, title)];
  const near = Math.hypot(points[0][0] - points.at(-1)[0], points[0][1] - points.at(-1)[1]) < 30;
  return card(t('track'), null, h('div', { class: 'workouts' }, drawing(width, tallness + 26, t('routeOf', { distance: distance(workout.route?.distanceMeters ?? workout.distanceMeters) }),
    s('polyline', { class: 'path', points: points.map((point) => point.map((one) => one.toFixed(1)).join(',')).join(' ') }),
    mark(points[0], 'begin', near ? `${t('start')} / ${t('end')}` : t('start')), near ? null : mark(points.at(-1), 'finish', t('end')),
    s('path', { class: 'rule', d: `M4 ${tallness + 12}v6h${wanted * perMeter}v-6` }), s('text', { x: 12 + wanted * perMeter, y: tallness + 19 }, wanted < 1000 ? `${number(wanted)} m` : `${number(wanted / 1000)} km`)),
  h('p', { class: 'small soft' }, t('trackHelp', { tolerance: height(track.toleranceMeters ?? 0) }))));
}
