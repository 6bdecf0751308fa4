// An export dropped on the page: its progress, what was new, and what was quarantined.

import { about, ask, Refusal, upload } from './api.js';
import { card, empty, h, prose, scroll, table } from './dom.js';
import { moment, named, number, percent } from './format.js';
import { tokenForm } from './settings.js';
import { t } from './words.js';

const NAMES = 'names', MOST = 100;
/** The names of dropped files, by import. A name may be private: it stays in this browser and never reaches the server, or a log. */
const names = () => JSON.parse(localStorage.getItem(NAMES) ?? '[]');
const remember = (id, name) => localStorage.setItem(NAMES, JSON.stringify([[id, name], ...names().filter(([one]) => one !== id)].slice(0, MOST)));
/** The name of a file dropped here; it is unknown for files sent from elsewhere. */
function nameOf(one, known) {
  const file = String(one.path ?? '').split('/').at(-1);
  return known.get(one.id) ?? (/^posted-[0-9a-f]+$/.test(file) ? t('sentFile') : file);
}

const UNDER_WAY = new Set(['announced', 'receiving', 'open', 'reading']);

export async function draw(frame) {
  const person = await about();
  const said = h('div', { role: 'status' }), before = h('div'), seen = new Map();
  const show = (rows) => {
    for (const one of rows) seen.set(one.id, one);
    if (frame.current()) before.replaceChildren(imported([...seen.values()], person.zone));
  };
  const list = async () => {
    const reported = await ask('imports');
    show(reported.imports);
    return reported;
  };
  frame.leaving.push(frame.live.on('import', (one) => show([one])));
  // A small file may be read between two states of the pipeline, so that neither shows it.
  const follow = async (id) => {
    while (frame.current()) {
      await list();
      const state = seen.get(id)?.state;
      if (state && !UNDER_WAY.has(state)) return;
      await new Promise((again) => setTimeout(again, 1000));
    }
  };
  // A small file that comes from elsewhere, too.
  frame.follow('imports', await list(), (reported) => show(reported.imports));
  const bring = person.scopes.includes('ingest')
    ? dropzone((file) => take(file, said, follow))
    : h('div', null, h('p', null, t('needToken', { scope: 'ingest' })), tokenForm('ingest', () => frame.redraw()));
  return [h('div', { class: 'top' }, h('h1', null, t('view.import'))), card(null, null, bring, said), before];
}

function dropzone(taken) {
  const file = h('input', { type: 'file', accept: '.zip,.xml', class: 'hidden', id: 'file', onchange: () => { if (file.files[0]) taken(file.files[0]); } });
  const zone = h('div', { class: 'drop' }, h('p', null, h('strong', null, t('importHelp'))), h('p', { class: 'soft' }, t('importOr')), file, h('label', { for: 'file', class: 'button' }, t('choose')));
  zone.addEventListener('dragover', (event) => { event.preventDefault(); zone.classList.add('over'); });
  zone.addEventListener('dragleave', () => zone.classList.remove('over'));
  zone.addEventListener('drop', (event) => { event.preventDefault(); zone.classList.remove('over'); if (event.dataTransfer.files[0]) taken(event.dataTransfer.files[0]); });
  return zone;
}

async function take(file, said, follow) {
  const bar = h('progress', { max: 1, value: 0, 'aria-label': t('sending', { name: file.name }) }), text = h('p', null, t('sending', { name: file.name }));
  said.replaceChildren(text, bar);
  try {
    const { id } = await upload('import', file, (part) => { bar.value = part; });
    remember(id, file.name);
    said.replaceChildren(h('p', null, t('sent', { name: file.name })));
    await follow(id);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    said.replaceChildren(h('div', { class: 'notice ill', role: 'alert' }, h('p', null, error.message), error.hint && h('p', { class: 'advice' }, prose(error.hint))));
  }
}

function imported(list, zone) {
  if (!list.length) return card(t('imported'), null, empty(t('noImports')));
  const known = new Map(names()), rows = list.sort((a, b) => b.submitted.localeCompare(a.submitted));
  const count = (one, member) => (one.report ? number(one.report[member] ?? 0) : '–');
  const state = (one) => [named('state', one.state), one.progress && ` ${percent(one.progress.fraction)}`, one.problem && `: ${one.problem}`];
  const aside = rows.reduce((sum, one) => sum + (one.report?.quarantined ?? 0), 0);
  return card(t('imported'), null, scroll(t('imported'), table(t('imported'), [{ title: t('file') }, { title: t('when'), left: true }, { title: t('state'), left: true }, { title: t('read') }, { title: t('addedSamples') }, { title: t('knownSamples') }, { title: t('aside') }],
    rows.map((one) => [nameOf(one, known), moment(one.submitted, zone), h('span', null, state(one)), count(one, 'read'), count(one, 'added'), count(one, 'known'), count(one, 'quarantined')]))),
  aside > 0 && h('p', { class: 'advice' }, prose(t('asideWhy', { count: aside }))));
}
