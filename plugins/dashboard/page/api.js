// The page's requests. Each view names the paths it asks; the stream's is also named in live-worker.js.

import { t } from './words.js';

export class Refusal extends Error {
  constructor(message, hint, status) { super(message); this.hint = hint; this.status = status; }
}

const pause = (milliseconds) => new Promise((done) => { setTimeout(done, milliseconds); });
export const address = (path) => new URL(`api/${path}`, document.baseURI);

/** Asks until there is an answer: a process that is still starting answers 503, and is asked again for ten seconds. */
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
    const body = await answer.json().catch(() => ({}));
    if (answer.status !== 503 || options.method || Date.now() > until) throw new Refusal(body.error ?? t('refused', { status: answer.status }), body.hint, answer.status);
    await pause(500);
  }
}

export const send = (path, body) => ask(path, null, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });

/** Whose data this is, its zone, its first and last day, and what the visitor may do. Never remembered: the next import changes it. */
export const about = () => ask('about');

/** Shows a token once; from then on the browser's session has the token's rights. */
export async function enter(token) {
  await ask('session', null, { method: 'POST', headers: { Authorization: `Bearer ${token.trim()}` } });
  return about();
}

/** Sends a file, and reports how much of it has been sent. */
export function upload(path, file, moved) {
  return new Promise((done, failed) => {
    const request = new XMLHttpRequest();
    request.open('PUT', address(path));
    request.responseType = 'json';
    request.upload.onprogress = (event) => moved(event.loaded / event.total);
    request.onload = () => (request.status < 300 ? done(request.response)
      : failed(new Refusal(request.response?.error ?? t('refused', { status: request.status }), request.response?.hint, request.status)));
    request.onerror = () => failed(new Refusal(t('unreachable'), t('unreachableAdvice'), 0));
    request.send(file);
  });
}
