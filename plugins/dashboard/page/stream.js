/** The event for days when it isn't known which have changed. */
export const ANY_DAY = { dates: [], more: true };

/** Server-sent events that reconnect automatically: after an error, after silence, and when a sleeping machine wakes. Works in a page and in a worker. */
export class Stream {
  #address; #heard = new Map(); #source = null; #last = 0; #wait = 1000; #again = null; #watch; #reported = null;
  onstate = () => {};

  constructor(address) {
    this.#address = address;
    // The server sends a beat at least every 10 seconds.
    this.on('beat', () => {});
    this.#watch = setInterval(() => { if (this.#source && Date.now() - this.#last > 25_000) this.#lost(); }, 5000);
  }

  on(event, take) {
    const takers = this.#heard.get(event) ?? new Set();
    this.#heard.set(event, takers.add(take));
    if (takers.size === 1) this.#hear(event);
    return () => takers.delete(take);
  }

  open(address = this.#address) {
    this.#address = address;
    clearTimeout(this.#again);
    this.#source?.close();
    this.#last = Date.now();
    this.#source = new EventSource(address);
    this.#source.onopen = () => { this.#last = Date.now(); this.#wait = 1000; this.#report(true); };
    this.#source.onerror = () => this.#lost();
    for (const event of this.#heard.keys()) this.#hear(event);
  }

  /** Somebody is looking again, perhaps after the machine slept. */
  wake() { if (!this.#source || Date.now() - this.#last > 15_000) this.open(); }

  close() {
    clearInterval(this.#watch); clearTimeout(this.#again);
    this.#source?.close(); this.#source = null;
  }

  #hear(event) {
    this.#source?.addEventListener(event, (message) => {
      this.#last = Date.now();
      this.#report(true);
      const news = message.data ? JSON.parse(message.data) : null;
      for (const take of this.#heard.get(event)) take(news);
    });
  }

  #lost() {
    this.#source?.close(); this.#source = null;
    this.#report(false);
    clearTimeout(this.#again);
    this.#again = setTimeout(() => this.open(), this.#wait);
    this.#wait = Math.min(this.#wait * 2, 15_000);
  }

  #report(connected) { if (connected !== this.#reported) { this.#reported = connected; this.onstate(connected); } }
}
