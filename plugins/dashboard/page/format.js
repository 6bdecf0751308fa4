// Numbers, units, dates and times in the user's own format.

import { locale, t, word } from './words.js';

const region = new Intl.Locale(locale).maximize().region;
const defaults = {
  distance: ['US', 'GB', 'LR', 'MM'].includes(region) ? 'mi' : 'km', energy: 'kcal', mass: ['US', 'LR', 'MM'].includes(region) ? 'lb' : 'kg',
};
export const units = { distance: ['km', 'mi'], energy: ['kcal', 'kJ'], mass: ['kg', 'lb'] };
export const unit = (kind) => localStorage.getItem(kind) ?? defaults[kind];

const formats = new Map();
export function number(value, digits = 0, options) {
  const key = `${digits} ${JSON.stringify(options ?? '')}`;
  if (!formats.has(key)) formats.set(key, new Intl.NumberFormat(locale, { maximumFractionDigits: digits, minimumFractionDigits: digits, ...options }));
  return formats.get(key).format(value);
}

const KILO = { m: 1000, mi: 1609.344 };
/** HealthKit's percentages are fractions from 0 to 1; those of a person's own types and figures are what they say. */
const isFraction = (figure) => figure.path.endsWith('Fraction') || figure.path.startsWith('other.HK');
/** How a unit of the store is shown: [factor, digits, its name]. */
function shown(figure) {
  switch (figure.unit) {
    case 'm': return figure.family === 'steps' || figure.long
      ? (unit('distance') === 'mi' ? [1 / KILO.mi, 1, 'mi'] : [1 / KILO.m, 1, 'km'])
      : figure.short ? (unit('distance') === 'mi' ? [3.28084, 0, 'ft'] : [1, 0, 'm']) : [1, 2, 'm'];
    case 'kcal': return unit('energy') === 'kJ' ? [4.184, 0, 'kJ'] : [1, 0, 'kcal'];
    case 'kg': return unit('mass') === 'lb' ? [2.2046226218, 1, 'lb'] : [1, 1, 'kg'];
    case 'mL': return unit('mass') === 'lb' ? [1 / 29.5735, 0, 'fl oz'] : [1 / 1000, 1, 'l'];
    case '%': return [isFraction(figure) ? 100 : 1, 1, '%'];
    case 'count': return [1, figure.digits ?? 0, ''];
    case 'hours': return [1, 0, 'h'];
    case 'ms': return [1, 0, 'ms'];
    case 'count/min': return figure.family === 'other' ? [1, 1, '/min'] : [1, 0, t('bpm')];
    default: return [1, figure.digits ?? (figure.unit ? 1 : 0), figure.unit ?? ''];
  }
}

/** 7 h 26 min. */
export function duration(minutes, brief) {
  const whole = Math.round(minutes), hours = Math.trunc(whole / 60), rest = Math.abs(whole % 60);
  if (brief) return `${number(hours)}:${String(rest).padStart(2, '0')}`;
  return hours ? `${number(hours)}\u00a0h\u00a0${String(rest).padStart(2, '0')}\u00a0min` : `${number(rest)}\u00a0min`;
}

const inHours = (figure) => figure.unit === 'min' && figure.family === 'sleep';
/** The number on an axis, in the unit that is shown to people. */
export const scaled = (figure, value) => (value === null || value === undefined ? null : inHours(figure) ? value / 60 : value * shown(figure)[0]);
export const unitOf = (figure) => (inHours(figure) ? 'h' : figure.unit === 'min' ? 'min' : shown(figure)[2]);
export function plain(figure, value) {
  if (value === null || value === undefined) return '–';
  if (inHours(figure)) return duration(value, true);
  if (figure.unit === 'min') return number(value);
  const [factor, digits] = shown(figure);
  return number(value * factor, digits);
}
/** With its unit: "8,140", "9.8 km", "7 h 26 min". */
export function full(figure, value) {
  if (value === null || value === undefined) return '–';
  if (inHours(figure) || (figure.unit === 'min' && value >= 90)) return duration(value);
  const name = unitOf(figure);
  return plain(figure, value) + (name ? `\u00a0${name}` : '');
}

const KM = { unit: 'm', long: true };
export const distance = (meters) => full(KM, meters);
export const height = (meters) => full({ unit: 'm', short: true }, meters);
export const energy = (kcal) => full({ unit: 'kcal' }, kcal);
export const rate = (value) => full({ unit: 'count/min' }, value);
export const percent = (value, digits = 0, options) => number(value, digits, { style: 'percent', ...options });
/** Minutes and seconds for a kilometre, or for a mile. */
export function pace(seconds, meters) {
  if (!(meters > 0)) return '–';
  const mi = unit('distance') === 'mi', each = Math.round((seconds / meters) * (mi ? KILO.mi : KILO.m));
  return `${Math.floor(each / 60)}:${String(each % 60).padStart(2, '0')} /${mi ? 'mi' : 'km'}`;
}
export function clockSeconds(value) {
  const seconds = Math.round(value), minutes = Math.floor(seconds / 60), two = (part) => String(part % 60).padStart(2, '0');
  return `${minutes >= 60 ? `${Math.floor(minutes / 60)}:${two(minutes)}` : minutes}:${two(seconds)}`;
}

// A date is a local day and has no zone; it is represented by noon in UTC, so that no clock change moves it.
export const dayOf = (date) => new Date(`${date}T12:00:00Z`);
export const dateOf = (day) => day.toISOString().slice(0, 10);
export const shift = (date, days) => dateOf(new Date(dayOf(date).getTime() + days * 86_400_000));
export const daysBetween = (from, to) => Math.round((dayOf(to) - dayOf(from)) / 86_400_000);
const dates = new Map();
function dated(options) {
  const key = JSON.stringify(options);
  if (!dates.has(key)) dates.set(key, new Intl.DateTimeFormat(locale, options));
  return dates.get(key);
}
export const date = (value, style = 'medium') => dated({ timeZone: 'UTC', ...({
  long: { weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' }, medium: { day: 'numeric', month: 'short', year: 'numeric' },
  short: { day: 'numeric', month: 'short' }, weekday: { weekday: 'short' }, month: { month: 'short' }, monthYear: { month: 'short', year: '2-digit' },
}[style]) }).format(dayOf(value));
export const weekdays = (style = 'narrow') => [...Array(7).keys()].map((at) => dated({ timeZone: 'UTC', weekday: style }).format(dayOf(shift('2024-01-01', at))));
export const time = (instant, zone) => dated({ timeZone: zone ?? undefined, hour: 'numeric', minute: '2-digit' }).format(new Date(instant));
export const moment = (instant, zone) => dated({ timeZone: zone ?? undefined, dateStyle: 'medium', timeStyle: 'short' }).format(new Date(instant));
/** The hour that the clock shows at an instant, such as 23.5. */
export function hourOf(instant, zone) {
  const parts = Object.fromEntries(dated({ timeZone: zone ?? undefined, hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }).formatToParts(new Date(instant)).map((part) => [part.type, part.value]));
  return Number(parts.hour) + Number(parts.minute) / 60;
}
export function ago(seconds) {
  const [value, name] = seconds < 90 ? [seconds, 'second'] : seconds < 5400 ? [seconds / 60, 'minute'] : seconds < 129_600 ? [seconds / 3600, 'hour'] : [seconds / 86_400, 'day'];
  return new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' }).format(-Math.round(value), name);
}
/** How long something has lasted. */
export const lasting = (seconds) => (seconds < 90 ? `${number(Math.max(0, seconds))} s` : duration(seconds / 60));
export const bytes = (value) => (value >= 1e9 ? `${number(value / 1e9, 1)} GB` : value >= 1e6 ? `${number(value / 1e6)} MB` : `${number(value / 1e3)} kB`);
export const named = (kind, name) => word(`${kind}.${name}`) ?? String(name).replace(/([a-z])([A-Z])/g, '$1 $2').replace(/ ([A-Z])(?=[a-z])/g, (initial) => initial.toLowerCase()).replace(/^./, (first) => first.toUpperCase());
