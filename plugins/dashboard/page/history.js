// How the last rounds went, and how long samples take to reach the backend.

import { about, ask } from './api.js';
import { chart, series } from './charts.js';
import { card, empty, h, scroll, table } from './dom.js';
import { moment, named, number, percent } from './format.js';
import { t } from './words.js';

const seconds = (value) => (value === null || value === undefined ? '–' : `${number(value, value < 10 ? 1 : 0)} s`);

export async function draw(frame) {
  const [person, reported] = await Promise.all([about(), ask('history')]);
  frame.follow('history', reported, () => frame.redraw());
  const title = h('div', { class: 'top' }, h('h1', null, t('view.history')));
  if (!reported.rounds) return [title, card(null, null, empty(t('noRounds')))];
  const rounds = [...reported.last].sort((a, b) => a.number - b.number), tile = (name, said) => h('div', { class: 'tile' }, h('dt', null, name), h('dd', null, said));
  const delays = Object.entries(reported.delays ?? {});
  return [title,
    h('section', { class: 'card' }, h('dl', { class: 'tiles' }, tile(t('rounds'), number(reported.rounds)), tile(t('success'), reported.successRate === null ? '–' : percent(reported.successRate)), tile(t('median'), seconds(reported.seconds?.median)), tile(t('p95'), seconds(reported.seconds?.p95)))),
    rounds.length > 1 && card(t('roundLength'), null, chart({ label: t('roundLength'), labels: rounds.map((one) => one.began), floor: 0, low: true, unit: 's', say: (one, axis) => (axis ? number(one, one < 10 ? 1 : 0) : seconds(one)), tick: (one) => moment(one, person.zone), place: (one) => moment(one, person.zone),
      lines: [series({ title: t('rounds'), values: rounds.map((one) => one.seconds), tone: 'steps', kind: 'bar' })] })),
    delays.length > 0 && card(t('delays'), null, scroll(t('delays'), table(t('delays'), [{ title: t('metric') }, { title: t('samples') }, { title: t('median') }, { title: t('p95') }],
      delays.map(([name, one]) => [named('metric', name), one.count === undefined ? '–' : number(one.count), seconds(one.median), seconds(one.p95)])))),
    card(t('rounds'), null, scroll(t('rounds'), table(t('rounds'), [{ title: t('began') }, { title: t('reason'), left: true }, { title: t('length') }, { title: t('succeeded'), left: true }, { title: t('failed'), left: true }],
      rounds.reverse().map((one) => [moment(one.began, person.zone), named('reason', one.reason), seconds(one.seconds), one.succeeded.join(', '), Object.entries(one.failed).map(([name, why]) => `${name}: ${why}`).join(', ') || '–']))))];
}
