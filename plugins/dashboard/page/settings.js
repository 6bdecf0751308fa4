// Units and language, kept in this browser; and what this session may do.

import { about, enter, Refusal } from './api.js';
import { card, h, picker, prose } from './dom.js';
import { unit, units } from './format.js';
import { language, languages, t } from './words.js';

export async function draw(frame) {
  const person = await about();
  const remember = (name) => (value) => { localStorage.setItem(name, value); if (name === 'language') location.reload(); else frame.redraw(); };
  return [h('div', { class: 'top' }, h('h1', null, t('view.settings'))),
    card(t('units'), null, h('div', { class: 'controls' },
      h('span', null, t('language'), ' ', picker(t('language'), languages, language, remember('language'))),
      Object.entries(units).map(([kind, names]) => h('span', null, t(`unit.${kind}`), ' ', picker(t(`unit.${kind}`), names.map((name) => [name, name]), unit(kind), remember(kind), kind)))),
    h('p', { class: 'small soft' }, t('settingsHelp'))),
    card(t('session'), null, h('p', null, rights(person)), tokenForm('admin', () => frame.redraw()))];
}

const rights = (person) => (!person.reads ? prose(t('signedOut'))
  : person.scopes.length ? t('mayDo', { scopes: person.scopes.map((scope) => t(`scope.${scope}`)).join(', ') }) : t('mayRead'));

/** Asks for a token. The outcome is shown below the form. */
export function tokenForm(scope, entered) {
  const said = h('p', { class: 'advice small', role: 'status' }, prose(t('needTokenAdvice', { scope })));
  const field = h('input', { type: 'password', name: 'token', autocomplete: 'off', required: true });
  return h('form', { onsubmit: async (event) => {
    event.preventDefault();
    try { await entered(await enter(field.value)); } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      said.replaceChildren(error.message, ' ', ...prose(error.hint ?? ''));
    }
  } }, h('div', { class: 'controls' }, h('label', null, t('token'), field), h('button', { type: 'submit' }, t('enter'))), said);
}
