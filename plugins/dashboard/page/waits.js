// What is waiting and what is wrong, each with a remedy.

import { about, ask, Refusal, send } from './api.js';
import { card, empty, h, prose } from './dom.js';
import { moment, named } from './format.js';
import { tokenForm } from './settings.js';
import { t } from './words.js';

export async function draw(frame) {
  const [person, first] = await Promise.all([about(), ask('waits')]);
  const list = h('div'), said = h('div', { role: 'status' });
  let shown = '';
  const show = ({ waits }) => {
    if (JSON.stringify(waits) === shown) return;
    shown = JSON.stringify(waits);
    list.replaceChildren(...(waits.length ? waits.map((one) => entry(one, person, said, frame)) : [card(null, null, h('p', { class: 'state ready' }, t('waitsNone')))]));
  };
  show(first);
  frame.leaving.push(frame.live.on('waits', show));
  return [h('div', { class: 'top' }, h('h1', null, t('view.waits'))), said, list];
}

/** Text that the commands print after a colon is a sentence of its own here. */
const sentence = (text) => text.replace(/^./, (first) => first.toUpperCase()).replace(/([^.!?])$/, '$1.');

function entry(one, person, said, frame) {
  const form = h('div');
  const again = async () => {
    if (!(await about()).scopes.includes('admin')) return form.replaceChildren(h('p', null, t('needToken', { scope: 'admin' })), tokenForm('admin', again));
    try {
      const reported = await send('retry', one.retry);
      said.replaceChildren(h('p', { class: 'notice' }, t('retried', { count: reported.result?.sent ?? one.count })));
      form.replaceChildren();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      said.replaceChildren(h('div', { class: 'notice ill' }, h('p', null, error.message), error.hint && h('p', { class: 'advice' }, prose(error.hint))));
    }
    return undefined;
  };
  return h('section', { class: 'card', 'data-kind': one.kind }, h('div', { class: 'top' }, h('h2', null, `${named('wait', one.kind)}${one.subject ? `: ${one.subject}` : ''}`),
    one.since && h('span', { class: 'small soft' }, t('sinceWhen', { when: moment(one.since, person.zone) }))),
  h('p', { class: { warning: 'state wait', error: 'state ill' }[one.severity] }, prose(sentence(one.what))), one.remedy && h('p', { class: 'advice' }, prose(sentence(one.remedy))),
  one.retry && h('p', null, h('button', { type: 'button', onclick: again }, t('retry'))), form);
}
