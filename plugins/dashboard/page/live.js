// What is happening now. All tabs share one stream: a browser opens at most six connections to a server, and a stream
// permanently occupies one of them.

import { address } from './api.js';
import { ANY_DAY, Stream } from './stream.js';

/** The page's end of the shared stream. A hidden tab receives nothing; it gets the events it missed when it becomes visible again. */
export class Live {
  #heard = new Map(); #worker = null; #own = null; #isReady = () => {}; #isLate = false; #patience;
  onstate = () => {};
  /** What is asked before the stream stands may be older than the first event: the first view waits for it, but only a moment. */
  ready = new Promise((done) => { this.#isReady = done; });

  constructor() {
    this.#patience = setTimeout(() => { this.#isLate = true; this.#isReady(); }, 1000);
    if (globalThis.SharedWorker) this.#share(); else this.#alone();
    for (const event of ['visibilitychange', 'online', 'pageshow']) addEventListener(event, () => (document.visibilityState === 'visible' ? this.#say('look') : this.#say('rest')));
    addEventListener('pagehide', (event) => this.#say(event.persisted ? 'rest' : 'leave'));
  }

  on(event, take) {
    const takers = this.#heard.get(event) ?? new Set();
    this.#heard.set(event, takers.add(take));
    if (takers.size === 1) this.#own?.on(event, (news) => this.#take(event, news));
    return () => takers.delete(take);
  }

  /** Connects again at once, for example with the rights of a token that has been shown. */
  open() { this.#say('open'); }

  #state(connected) {
    clearTimeout(this.#patience);
    this.#isReady();
    if (connected && this.#isLate) this.#take('days', ANY_DAY);
    if (connected) this.#isLate = false;
    this.onstate(connected);
  }

  #take(event, news) { for (const take of this.#heard.get(event) ?? []) take(news); }

  #share() {
    this.#worker = new SharedWorker(new URL('live-worker.js', document.baseURI), { type: 'module', name: 'healthbus' });
    this.#worker.port.onmessage = ({ data: [event, news] }) => (event === 'state' ? this.#state(news) : this.#take(event, news));
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
      this.#state(connected);
    };
    for (const event of this.#heard.keys()) this.#own.on(event, (news) => this.#take(event, news));
    this.#own.open();
  }

  #say(what) {
    this.#worker?.port.postMessage(what);
    if (what === 'open') this.#own?.open();
    if (what === 'look') this.#own?.wake();
  }
}

/** The events for one view. Those that arrive while it is being drawn may be newer than its answers: they are passed on once it is shown. */
export class Early {
  #live; #takers = []; #early = new Map(); #ends; #isShown = false;

  constructor(live) {
    this.#live = live;
    this.#ends = ['pipeline', 'waits', 'days', 'import'].map((event) => live.on(event, (news) => {
      this.#early.set(event, event === 'import' ? [...(this.#early.get(event) ?? []), news] : [event === 'days' ? ANY_DAY : news]);
    }));
  }

  on(event, take) {
    const taker = { event, take, end: this.#isShown ? this.#live.on(event, take) : () => {} };
    this.#takers.push(taker);
    return () => taker.end();
  }

  /** The view is shown. */
  pass() {
    this.end();
    this.#isShown = true;
    for (const taker of this.#takers) taker.end = this.#live.on(taker.event, taker.take);
    for (const { event, take } of [...this.#takers]) for (const news of this.#early.get(event) ?? []) take(news);
  }

  end() { for (const end of this.#ends) end(); }
}
