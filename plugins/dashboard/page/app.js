// The page's frame: which view is shown, what is live, and what went wrong.

import { about, ask, Refusal } from './api.js';
import { h, prose } from './dom.js';
import { Early, Live } from './live.js';
import { language, t } from './words.js';

const VIEWS = {
  days: './days.js', day: './day.js', nights: './nights.js', workouts: './workouts.js', body: './body.js', import: './importing.js',
  pipeline: './pipeline.js', waits: './waits.js', tap: './tap.js', history: './history.js', settings: './settings.js',
};
const GROUPS = [['person', ['days', 'nights', 'workouts', 'body']], ['operator', ['pipeline', 'waits', 'tap', 'history']], ['more', ['import', 'settings']]];

const main = document.getElementById('main'), nav = document.getElementById('nav'), state = document.getElementById('state');
const live = new Live();
let leave = () => {}, turn = 0, counts = {}, stale = false, away = false, lost = false, out = false;

/** #/day/2026-11-22?figure=steps is the view `day`, its subject, and options. */
function place() {
  const [path, query] = location.hash.slice(2).split('?');
  const [view, ...rest] = path.split('/').map(decodeURIComponent);
  return { view: view in VIEWS ? view : 'days', rest, options: new URLSearchParams(query) };
}

function drawNav(view) {
  const parent = { day: 'days' }[view] ?? view;
  nav.setAttribute('aria-label', t('views'));
  nav.replaceChildren(...GROUPS.flatMap(([group, views]) => [
    h('h2', null, t(`group.${group}`)),
    h('ul', null, views.map((name) => h('li', null, h('a', { href: `#/${name}`, 'aria-current': name === parent ? 'page' : null }, t(`view.${name}`),
      counts[name] ? h('span', { class: 'count' }, counts[name], h('span', { class: 'hidden' }, ` ${t('wait')}`)) : null)))),
  ]));
}

export const problem = (error) => h('div', { class: 'notice ill', role: 'alert' }, h('p', null, error.message), error.hint && h('p', { class: 'advice' }, prose(error.hint)));

/** A view's own file is loaded when it is first shown. A browser may remember a failed load, so the page is reloaded once the server answers. */
const load = (view) => import(VIEWS[view]).catch((error) => {
  if (!(error instanceof TypeError)) throw error;
  stale = true;
  throw new Refusal(t('unreachable'), t('unreachableAdvice'), 0);
});

/** Draws the view for the address. Views register functions in `frame.leaving`, to call when they are left; results that arrive later are dropped. */
async function show(keep) {
  const mine = ++turn, { view, rest, options } = place();
  const from = scrollY, held = keep && document.activeElement?.id;
  leave(); leave = () => {};
  drawNav(view);
  document.title = `${t(`view.${view}`)} · healthbus`;
  main.setAttribute('aria-busy', 'true');
  const early = new Early(live), leaving = [() => early.end()];
  const frame = {
    live: early, rest, options, leaving, current: () => mine === turn,
    go: (hash) => { location.hash = hash; },
    /** Remembers options in the address without a new entry in the browser's history. */
    keep: (changed) => { for (const [name, value] of Object.entries(changed)) options.set(name, value); history.replaceState(null, '', `#/${[view, ...rest].join('/')}?${options}`); },
    reload: (changed) => { frame.keep(changed); show(true); },
    redraw: () => { if (mine === turn) show(true); },
    /** Asks again with each state of the pipeline, for what no event announces, and calls `take` with an answer unlike the one before. */
    follow: (path, news, take) => {
      let before = JSON.stringify(news), isAsking = false;
      leaving.push(early.on('pipeline', async () => {
        if (isAsking) return;
        isAsking = true;
        // Without an answer, the next state of the pipeline is soon enough.
        const now = await ask(path).catch(() => null), text = JSON.stringify(now);
        isAsking = false;
        if (!now || text === before || mine !== turn) return;
        before = text;
        take(now);
      }));
    },
  };
  let made;
  try {
    made = await (await load(view)).draw(frame);
  } catch (error) {
    if (!(error instanceof Refusal)) console.error(error);
    made = [h('div', { class: 'top' }, h('h1', null, t(`view.${view}`))), problem(error instanceof Refusal ? error : new Refusal(t('broken'), t('brokenAdvice')))];
    if (error.status === 0) away = true;
    if (error.status === 503) { const again = setTimeout(() => frame.redraw(), 2000); leaving.push(() => clearTimeout(again)); }
    // A browser that isn't signed in may show a token instead. Once another tab has signed it in, the stream connects.
    if (error.status === 401) {
      out = true;
      made.push(h('section', { class: 'card' }, h('p', null, t('notAllowed')), (await import('./settings.js')).tokenForm('read', () => { live.open(); show(); })));
    }
  }
  if (mine !== turn) { for (const end of leaving) end(); return; }
  leave = () => { for (const end of leaving) end(); };
  main.replaceChildren(...made.flat().filter(Boolean));
  main.removeAttribute('aria-busy');
  if (held) document.getElementById(held)?.focus({ preventScroll: true });
  if (keep) scrollTo(0, from); else { scrollTo(0, 0); if (mine > 1) main.focus({ preventScroll: true }); }
  early.pass();
}

// A ticket in the address has been used up.
if (location.search) history.replaceState(null, '', location.pathname + location.hash);
document.documentElement.lang = language;
document.getElementById('skip').textContent = t('skip');
document.getElementById('skip').addEventListener('click', (event) => { event.preventDefault(); main.focus(); });
live.onstate = (connected) => {
  state.textContent = connected ? t('live') : t('lost');
  state.classList.toggle('lost', !connected);
  if (connected && stale) location.reload();
  else if (connected && (away || out)) { away = out = false; show(true); }
  lost = !connected;
  look();
};
/** A stream that is lost doesn't say why: the session may have ended, as it does with the dashboard. */
async function look() {
  if (!lost || out) return;
  const reads = await about().then((person) => person.reads, () => true);
  if (!reads && !out) { out = true; show(true); }
}
setInterval(look, 3000);
live.on('waits', (news) => { counts = { waits: news.waits.filter((one) => ['warning', 'error'].includes(one.severity)).length }; drawNav(place().view); });
addEventListener('hashchange', () => show());
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => show(true));
live.ready.then(() => { if (!turn) show(); });
