// The figures as people know them: their names, their families, and how to find them in a day's summary.

import { ask } from './api.js';
import { named } from './format.js';
import { t, word } from './words.js';

/** Families in the order in which people look for them; each has a colour of its own in base.css. */
export const FAMILIES = ['steps', 'energy', 'heart-rate', 'sleep', 'workouts', 'body', 'hydration', 'other'];
const DIGITS = { bodyMassIndex: 1, bodyMassIndexMean: 1 };

let known = null;

/** The numeric figures that the stack's handlers declare, each {path, title, unit, family, hourly, explain}. */
export async function figures() {
  known ??= (await ask('figures')).figures.filter((figure) => (figure.form ?? 'number') === 'number').map(dress);
  return known;
}

function dress(figure) {
  const path = figure.path ?? figure.name;
  const own = word(`figure.${path}`);
  return {
    ...figure, path, family: FAMILIES.includes(figure.family) ? figure.family : path.startsWith('water') ? 'hydration' : 'other',
    title: own ?? figure.title ?? named('figure', path.split('.').at(-1)), sums: ['total', 'stand-hours'].includes(figure.rule), digits: DIGITS[path] ?? figure.digits ?? (figure.unit ? undefined : 1),
  };
}

/** Types without a handler of their own: their values in a day's summary, as figures. */
export function others(days) {
  const found = new Map();
  for (const day of days) {
    for (const [type, kept] of Object.entries(day.other ?? {})) {
      const member = ['sum', 'average', 'mostRecent', 'minutes', 'count'].find((name) => typeof kept[name] === 'number');
      if (!member || found.has(type)) continue;
      const what = word(`figure.other.${type}`) ?? named('figure', type.replace(/^HK\w+?TypeIdentifier/, ''));
      const title = member === 'count' ? t('howOften', { what }) : what;
      found.set(type, { path: `other.${type}`, member, title, family: 'other', unit: member === 'minutes' ? 'min' : member === 'count' ? 'count' : kept.unit, sums: !['average', 'mostRecent'].includes(member), digits: kept.unit === 'count' || member === 'count' ? 0 : undefined });
    }
  }
  return [...found.values()].sort((a, b) => a.title.localeCompare(b.title));
}

export function value(day, figure) {
  let at = figure.member ? day?.other?.[figure.path.slice('other.'.length)]?.[figure.member] : day;
  if (!figure.member) for (const name of figure.path.split('.')) at = at?.[name];
  return typeof at === 'number' ? at : null;
}

export const byFamily = (list) => FAMILIES.map((family) => [t(`family.${family}`), list.filter((one) => one.family === family).map((one) => [one.path, one.title])]).filter(([, some]) => some.length);
export const find = (list, path) => list.find((one) => one.path === path) ?? list[0];

/** Means over the last `width` days, if at least half of them have a value. */
export function means(values, width) {
  let sum = 0, count = 0;
  return values.map((one, at) => {
    if (one !== null) { sum += one; count += 1; }
    const gone = values[at - width];
    if (gone !== undefined && gone !== null) { sum -= gone; count -= 1; }
    return count * 2 >= Math.min(width, at + 1) && count > 0 && at + 1 >= Math.min(width, 3) ? sum / count : null;
  });
}

export function mean(values) {
  const some = values.filter((one) => one !== null);
  return some.length ? some.reduce((sum, one) => sum + one, 0) / some.length : null;
}
