// What is happening now. All tabs share one stream: a browser opens at most six connections to a server, and a stream
// permanently occupies one of them.

import { address } from './api.js';
import { ANY_DAY, Stream } from './stream.js';

/** The page's end of the shared stream. A hidden tab receives nothing; it gets the events it missed when it becomes visible again. */
export class Live {
  #heard = new Map(); #worker = null; #own = null;
  onstate = () => {};

  constructor() {
    if (globalThis.SharedWorker) this.#share(); else this.#alone();
    for (const event of ['visibilitychange', 'online', 'pageshow']) addEventListener(event, () => (document.visibilityState === 'visible' ? this.#say('look') : this.#say('rest')));
    addEventListener('pagehide', (event) => this.#say(event.persisted ? 'rest' : 'leave'));
  }

  on(event, take) {
    const takers = this.#heard.get(event) ?? new Set();
    this.#heard.set(event, takers.add(take));
    if (takers.size === 1) this.#own?.on(event, (told) => this.#take(event, told));
    return () => takers.delete(take);
  }

  /** Connects again at once, for example with the rights of a token that has been shown. */
  open() { this.#say('open'); }

  #take(event, told) { for (const take of this.#heard.get(event) ?? []) take(told); }

  #share() {
    this.#worker = new SharedWorker(new URL('live-worker.js', document.baseURI), { type: 'module', name: 'healthbus' });
    this.#worker.port.onmessage = ({ data: [event, told] }) => (event === 'state' ? this.onstate(told) : this.#take(event, told));
    // A browser may support shared workers, but not as modules.
    this.#worker.onerror = () => { this.#worker = null; this.#alone(); };
    this.#say(document.visibilityState === 'visible' ? 'look' : 'rest');
  }

  #alone() {
    this.#own = new Stream(address('live'));
    let before = null;
    this.#own.onstate = (connected) => {
      if (connected && before === false) this.#take('days', ANY_DAY);
      before = connected;
      this.onstate(connected);
    };
    for (const event of this.#heard.keys()) this.#own.on(event, (told) => this.#take(event, told));
    this.#own.open();
  }

  #say(what) {
    this.#worker?.port.postMessage(what);
    if (what === 'open') this.#own?.open();
    if (what === 'look') this.#own?.wake();
  }
}
