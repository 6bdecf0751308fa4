// A night's stages over time.

import { ask, Refusal } from './api.js';
import { asTable } from './charts.js';
import { card, drawing, empty, h, room, s } from './dom.js';
import { date, duration, percent, time } from './format.js';
import { t } from './words.js';

const ROWS = ['awake', 'rem', 'core', 'unspecified', 'deep'], ROW = 34, LEFT = 72;
const kind = (stage) => ({ asleep: 'unspecified', 'in bed': 'bed' }[stage.toLowerCase()] ?? stage.toLowerCase());

/** The card of one night; its stages come from `explain`. */
export async function sleepOf(day, summary, zone, halved = false, title = t('nightBefore')) {
  if (!summary?.sleep) return card(title, null, empty(t('noNight')));
  let found;
  try { found = await ask('explain', { date: day, figure: 'sleep' }); } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    found = { sessions: [] };
  }
  const main = found.sessions.find((one) => one.main), naps = found.sessions.filter((one) => !one.main && one.asleepMinutes);
  return card(title, null, main && hypnogram(main, day, zone, halved), facts(summary.sleep, zone), main && shares(main),
    naps.length ? [h('h3', null, t('naps', { count: naps.length })), naps.map((nap) => h('p', { class: 'small' }, `${time(nap.start, zone)} – ${time(nap.end, zone)}, ${duration(nap.asleepMinutes)}`))] : null);
}

export function hypnogram(session, day, zone, halved) {
  const WIDTH = room(900, halved);
  const stretches = session.stretches.filter((one) => kind(one.stage) !== 'bed').sort((a, b) => a.start.localeCompare(b.start));
  if (!stretches.length) return null;
  const rows = ROWS.filter((row) => stretches.some((one) => kind(one.stage) === row));
  const begin = Date.parse(session.start), end = Date.parse(session.end), bottom = rows.length * ROW + 4;
  const x = (instant) => LEFT + ((Date.parse(instant) - begin) / (end - begin)) * (WIDTH - LEFT - 4);
  const y = (one) => rows.indexOf(kind(one.stage)) * ROW;
  const hours = [];
  for (let at = Math.ceil(begin / 3.6e6) * 3.6e6; at < end; at += 3.6e6) hours.push(new Date(at).toISOString());
  const threads = stretches.slice(1).map((one, at) => (one.start === stretches[at].end ? s('line', { class: 'thread', x1: x(one.start), x2: x(one.start), y1: Math.min(y(one), y(stretches[at])) + 8, y2: Math.max(y(one), y(stretches[at])) + 22 }) : null));
  const label = `${t('hypnogram', { date: date(day) })}. ${rows.map((row) => `${t(`stage.${row}`)}: ${duration(session[`${row}Minutes`] ?? 0)}`).join(', ')}`;
  return h('div', null, drawing(WIDTH, bottom + 22, label,
    hours.filter((_, at) => at % Math.ceil((hours.length * 64) / WIDTH) === 0).map((one) => [s('line', { class: 'grid', x1: x(one), x2: x(one), y1: 0, y2: bottom }), s('text', { x: x(one) - 12, y: bottom + 17 }, time(one, zone))]),
    rows.map((row, at) => s('text', { x: 0, y: at * ROW + 19 }, t(`stage.${row}`))), threads,
    stretches.map((one) => s('rect', { class: `stage ${kind(one.stage)}`, x: x(one.start), y: y(one) + 4, width: Math.max(1, x(one.end) - x(one.start)), height: 22, rx: 3 }))),
  asTable(label, { columns: [{ title: t('from') }, { title: t('to') }, { title: t('stage'), left: true }, { title: t('minutes') }],
    rows: stretches.map((one) => [time(one.start, zone), time(one.end, zone), t(`stage.${kind(one.stage)}`), duration((Date.parse(one.end) - Date.parse(one.start)) / 60_000)]) }));
}

/** Which minutes came from whom, if they came from several. */
const shares = ({ sources }) => sources?.length > 1 && h('p', { class: 'small soft' }, sources.filter((one) => one.asleepMinutes).map((one) => `${one.source}: ${duration(one.asleepMinutes)}`).join(' · '));

function facts(sleep, zone) {
  const tile = (title, found, note) => found && h('div', { class: 'tile sleep' }, h('dt', null, title), h('dd', null, found, note && h('div', { class: 'note' }, note)));
  const length = (minutes) => (minutes === null || minutes === undefined ? null : duration(minutes));
  return h('dl', { class: 'tiles' }, tile(t('asleep'), length(sleep.asleepMinutes), `${time(sleep.start, zone)} – ${time(sleep.end, zone)}`), tile(t('inBed'), length(sleep.inBedMinutes)),
    tile(t('efficiency'), sleep.efficiency === null ? null : percent(sleep.efficiency)), tile(t('latency'), length(sleep.latencyMinutes)), tile(t('awakeInNight'), length(sleep.wakeAfterOnsetMinutes)));
}
