// Messages as they pass. Health values stay hidden until somebody asks for them.

import { address, ask } from './api.js';
import { card, empty, h } from './dom.js';
import { Stream } from './stream.js';
import { t } from './words.js';

const KEPT = 300;

export async function draw(frame) {
  const list = h('ol', { class: 'messages', tabindex: 0, 'aria-label': t('messagesTitle') }), hint = empty(t('listening')), left = h('p', { class: 'small soft', role: 'status' });
  const { nodes } = await ask('pipeline');
  let skipped = 0, paused = false, waiting = [], tap = null;
  const field = (name, title) => h('label', null, title, h('input', { name, value: frame.options.get(name) ?? '', spellcheck: 'false', autocomplete: 'off' }));
  const pause = h('button', { type: 'button', 'aria-pressed': 'false', onclick: () => { paused = !paused; pause.setAttribute('aria-pressed', String(paused)); pause.textContent = paused ? t('goOn') : t('pause'); } }, t('pause'));
  const form = h('form', { class: 'controls', onsubmit: (event) => event.preventDefault(), onchange: () => listen() },
    field('topic', t('topic')), field('type', t('type')), h('label', null, t('sender'), h('select', { name: 'from' }, h('option', { value: '' }, '–'), nodes.map((one) => h('option', { value: one.name, selected: frame.options.get('from') === one.name }, one.name)))),
    h('label', null, h('input', { type: 'checkbox', name: 'values', value: '1' }), t('values')), pause, h('button', { type: 'button', onclick: () => list.replaceChildren() }, t('clear')));

  const line = (news) => {
    const body = JSON.stringify(news.body ?? null);
    return h('li', null, h('span', { class: 'soft' }, `${news.at.slice(11, 23)} `), h('b', null, news.topic), ` ← ${news.from} `, body.length > 600 ? `${body.slice(0, 600)}…` : body);
  };
  // Redrawn at most four times a second, no matter how many messages arrive.
  const flush = () => {
    if (!waiting.length || paused) return;
    hint.remove();
    list.prepend(...waiting.slice(-KEPT).reverse().map(line));
    while (list.childElementCount > KEPT) list.lastChild.remove();
    waiting = [];
  };
  function listen() {
    const wanted = new FormData(form), query = new URLSearchParams([...wanted].filter(([, value]) => value));
    frame.keep({ topic: wanted.get('topic'), type: wanted.get('type'), from: wanted.get('from') });
    waiting = [];
    if (tap) return tap.open(address(`tap?${query}`));
    tap = new Stream(address(`tap?${query}`));
    tap.on('message', (news) => {
      if (!paused && waiting.push(news) > KEPT) waiting.shift();
    });
    tap.on('skipped', (news) => { skipped += news.skipped; left.textContent = t('skipped', { count: skipped }); });
    return tap.open();
  }
  const timer = setInterval(flush, 250);
  const wake = () => { if (document.visibilityState === 'visible') tap?.wake(); };
  document.addEventListener('visibilitychange', wake);
  frame.leaving.push(() => { clearInterval(timer); document.removeEventListener('visibilitychange', wake); tap?.close(); });
  listen();
  return [h('div', { class: 'top' }, h('h1', null, t('view.tap'))), h('section', { class: 'card' }, form), h('section', { class: 'card' }, hint, left, list)];
}
