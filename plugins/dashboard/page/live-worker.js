// The one stream that all tabs share. It ends with the last tab, because the browser then terminates this worker.

import { ANY_DAY, Stream } from './stream.js';

const EVENTS = ['pipeline', 'waits', 'days', 'import'];
/** What each tab missed while it was hidden; null while it is visible. */
const tabs = new Map();
const newest = new Map();
const stream = new Stream(new URL('api/live', location.href));
let connected = null;

function spread(event, news) {
  for (const [port, missed] of tabs) if (missed) missed.add(event); else port.postMessage([event, news]);
}
function hear(event, news) {
  newest.set(event, news);
  spread(event, news);
}
for (const event of EVENTS) stream.on(event, (news) => hear(event, news));
stream.onstate = (now) => {
  // Days may have changed while there was no connection.
  if (now && connected === false) hear('days', ANY_DAY);
  connected = now;
  spread('state', now);
};

const said = {
  /** This tab has become visible, for the first time or again. */
  look(port) {
    // Every new tab gets the current state; past events are sent only to tabs that were open at the time.
    const missed = tabs.get(port) ?? new Set(tabs.has(port) ? [] : ['state', 'pipeline', 'waits']);
    tabs.set(port, null);
    if (missed.has('state') && connected !== null) port.postMessage(['state', connected]);
    for (const event of EVENTS) {
      if (!missed.has(event) || !newest.has(event)) continue;
      port.postMessage([event, event === 'days' ? ANY_DAY : newest.get(event)]);
    }
    stream.wake();
  },
  rest(port) { if (!tabs.get(port)) tabs.set(port, new Set(tabs.has(port) ? [] : ['state', 'pipeline', 'waits'])); },
  leave(port) { tabs.delete(port); },
  open() { stream.open(); },
};

addEventListener('connect', ({ ports: [port] }) => { port.onmessage = ({ data }) => said[data](port); });
