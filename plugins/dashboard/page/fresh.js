// How fresh each metric is, and a button that makes the stack look for new data now.

import { about, ask, Refusal, send } from './api.js';
import { h, prose, table } from './dom.js';
import { ago, moment, named } from './format.js';
import { t } from './words.js';

/** How often the times are read again, in milliseconds: they are shown in minutes. */
const AGAIN = 30_000;

/** Shown at once, and filled when the answer comes: a process that hangs delays it. */
export function freshness(frame, person) {
  const line = h('summary', null, t('freshness')), list = h('div', { class: 'fits' }), said = h('div', { role: 'status' }), form = h('div');
  const show = ({ at, metrics }) => {
    const since = (instant) => h('time', { datetime: instant, title: moment(instant, person.zone) }, ago(Math.max(0, (Date.parse(at) - Date.parse(instant)) / 1000)));
    const [stalest] = metrics.filter((one) => one.lastSynced);
    line.replaceChildren(...(stalest ? [t('stalest', { metric: named('metric', stalest.metric) }), ' ', since(stalest.lastSynced)] : [t('nothingSynced')]));
    list.replaceChildren(table(t('freshness'), [{ title: t('metric') }, { title: t('updated') }, { title: t('checked') }], metrics.map((one) => [named('metric', one.metric),
      one.lastSynced ? since(one.lastSynced) : h('span', { class: one.lastChecked ? 'soft' : 'state wait' }, t(one.lastChecked ? 'never' : 'notYet')), one.lastChecked ? since(one.lastChecked) : '–'])));
  };
  const look = async () => {
    // Without an answer, the next look is soon enough.
    const reported = await ask('freshness').catch(() => null);
    if (reported && frame.current()) show(reported);
  };
  let isBusy = false;
  const sync = async () => {
    if (isBusy) return;
    isBusy = true;
    button.setAttribute('aria-disabled', 'true');
    form.replaceChildren();
    said.replaceChildren(h('p', { class: 'soft' }, t('syncing')));
    try {
      if ((await about()).scopes.includes('ingest')) said.replaceChildren(outcome(await send('sync', {})));
      else {
        said.replaceChildren();
        form.replaceChildren(h('p', null, t('needToken', { scope: 'ingest' })), (await import('./settings.js')).tokenForm('ingest', sync));
        form.querySelector('input').focus();
      }
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      said.replaceChildren(h('p', null, error.message), error.hint ? h('p', { class: 'advice' }, prose(error.hint)) : '');
    } finally {
      isBusy = false;
      button.removeAttribute('aria-disabled');
    }
    await look();
  };
  const button = h('button', { type: 'button', id: 'sync', onclick: sync }, t('syncNow'));
  look();
  frame.leaving.push(frame.live.on('days', look));
  const again = setInterval(look, AGAIN);
  frame.leaving.push(() => clearInterval(again));
  return h('section', { class: 'fresh', 'aria-label': t('freshness') }, h('details', null, line, list), button, said, form);
}

/** The outcome in words, with the reasons of whatever failed or hasn't finished. */
function outcome({ result, why, failed, waiting }) {
  const tone = { newData: 'ready', noData: 'ready', failed: 'ill' }[result] ?? 'wait';
  const reasons = [...Object.entries(failed).map(([name, reason]) => `${named('metric', name)}: ${reason}`), ...waiting.map((name) => named('metric', name)), result === 'locked' ? null : why].filter(Boolean);
  return h('div', { 'data-result': result }, h('p', { class: `state ${tone}` }, t(`sync.${result}`)), reasons.length ? h('ul', { class: 'small' }, reasons.map((one) => h('li', null, prose(one)))) : '');
}
