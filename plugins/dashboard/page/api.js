// What the page asks for, and what it hears. Every path of the server is named here and nowhere else.

import { t } from './words.js';

export class Refusal extends Error {
  constructor(message, advice, status) { super(message); this.advice = advice; this.status = status; }
}

const pause = (milliseconds) => new Promise((done) => { setTimeout(done, milliseconds); });
const address = (path) => new URL(`api/${path}`, document.baseURI);

/** Asks until there is an answer: a process that only starts says so with 503, and is asked again for ten seconds. */
export async function ask(path, query, options = {}) {
  const url = address(path);
  for (const [name, value] of Object.entries(query ?? {})) if (value !== null && value !== undefined) url.searchParams.set(name, value);
  for (const until = Date.now() + 10_000; ;) {
    let answer;
    try {
      answer = await fetch(url, { cache: 'no-store', ...options });
    } catch {
      throw new Refusal(t('unreachable'), t('unreachableAdvice'), 0);
    }
    if (answer.ok) return answer.status === 204 ? null : answer.json();
    const told = await answer.json().catch(() => ({}));
    if (answer.status !== 503 || options.method || Date.now() > until) throw new Refusal(told.error ?? t('refused', { status: answer.status }), told.advice, answer.status);
    await pause(500);
  }
}

export const send = (path, body) => ask(path, null, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });

let known = null;
/** Whose data this is, in which zone, from when to when, and what may be done here. */
export async function about(anew) {
  known = (!anew && known) || await ask('about');
  return known;
}

/** Shows a token once; from then on the browser's session has its rights. */
export async function enter(token) {
  await ask('session', null, { method: 'POST', headers: { Authorization: `Bearer ${token.trim()}` } });
  return about(true);
}

/** Sends a file, and says how much of it has gone. */
export function upload(path, file, moved) {
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    request.open('PUT', address(`${path}?name=${encodeURIComponent(file.name)}`));
    request.responseType = 'json';
    request.upload.onprogress = (event) => moved(event.loaded / event.total);
    request.onload = () => (request.status < 300 ? done(request.response)
      : failed(new Refusal(request.response?.error ?? t('refused', { status: request.status }), request.response?.advice, request.status)));
    request.onerror = () => failed(new Refusal(t('unreachable'), t('unreachableAdvice'), 0));
    request.send(file);
  });
}

/** Server-sent events that go on by themselves: after an error, after silence, and when a sleeping machine wakes. */
export class Live {
  #path; #heard = new Map(); #source = null; #last = 0; #wait = 1000; #again = null; #watch; #told = null;
  onstate = () => {};

  constructor(path) {
    this.#path = path;
    this.#watch = setInterval(() => { if (this.#source && Date.now() - this.#last > 25_000) this.#lost(); }, 5000);
    this.wake = () => { if (document.visibilityState === 'visible' && (!this.#source || Date.now() - this.#last > 15_000)) this.open(); };
    for (const event of ['visibilitychange', 'online', 'pageshow']) addEventListener(event, this.wake);
  }

  on(event, take) {
    const takers = this.#heard.get(event) ?? new Set();
    this.#heard.set(event, takers.add(take));
    if (takers.size === 1) this.#hear(event);
    return () => takers.delete(take);
  }

  open(path = this.#path) {
    this.#path = path;
    clearTimeout(this.#again);
    this.#source?.close();
    this.#last = Date.now();
    this.#source = new EventSource(address(path));
    this.#source.onopen = () => { this.#last = Date.now(); this.#wait = 1000; this.#tell(true); };
    this.#source.onerror = () => this.#lost();
    for (const event of this.#heard.keys()) this.#hear(event);
  }

  close() {
    clearInterval(this.#watch); clearTimeout(this.#again);
    for (const event of ['visibilitychange', 'online', 'pageshow']) removeEventListener(event, this.wake);
    this.#source?.close(); this.#source = null;
  }

  #hear(event) {
    this.#source?.addEventListener(event, (message) => {
      this.#last = Date.now();
      this.#tell(true);
      const told = message.data ? JSON.parse(message.data) : null;
      for (const take of this.#heard.get(event)) take(told);
    });
  }

  #lost() {
    this.#source?.close(); this.#source = null;
    this.#tell(false);
    clearTimeout(this.#again);
    this.#again = setTimeout(() => this.open(), this.#wait);
    this.#wait = Math.min(this.#wait * 2, 15_000);
  }

  #tell(connected) { if (connected !== this.#told) { this.#told = connected; this.onstate(connected); } }
}
