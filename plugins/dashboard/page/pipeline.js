// A live view of the processes and of which listens to which. Processes that hang or are behind stand out.

import { ask } from './api.js';
import { card, drawing, h, prose, s, scroll, table } from './dom.js';
import { ago, bytes, lasting, moment, number } from './format.js';
import { t } from './words.js';

const WELL = new Set(['ready']), WAIT = new Set(['behind', 'starting', 'backoff']);
const tone = (state) => (WELL.has(state) ? 'ready' : WAIT.has(state) ? 'wait' : 'ill');
/** A process that ended and is already back is shown for this many seconds, since all of that may happen between two looks. */
const SHOWN = 60;
/** How many seconds ago a process was started again; null for one that wasn't restarted, or not recently. */
function again(one, now) {
  const seconds = one.restarted && WELL.has(one.state) ? Math.max(0, (now - Date.parse(one.restarted)) / 1000) : Infinity;
  return seconds < SHOWN ? seconds : null;
}
const WIDE = 128, TALL = 44, ACROSS = 156, DOWN = 58;

export async function draw(frame) {
  const notice = h('div', { role: 'status' }), graph = h('div', { class: 'graph-box', tabindex: 0, role: 'region', 'aria-label': t('graph') }), list = h('div');
  let said = null;
  const show = (news) => {
    const at = Date.parse(news.at), ill = news.nodes.filter((one) => !WELL.has(one.state)), back = news.nodes.filter((one) => again(one, at) !== null);
    // Screen readers read a status aloud when it is written, so it is written only when it changes.
    const now = JSON.stringify([ill.map((one) => [one.name, one.state, one.why]), back.map((one) => [one.name, one.restarts])]);
    if (now !== said) notice.replaceChildren(...summary(ill, back));
    said = now;
    graph.replaceChildren(picture(news));
    const from = list.querySelector('.scroll')?.scrollLeft ?? 0;
    list.replaceChildren(rows(news));
    list.querySelector('.scroll').scrollLeft = from;
  };
  show(await ask('pipeline'));
  frame.leaving.push(frame.live.on('pipeline', show));
  return [h('div', { class: 'top' }, h('h1', null, t('view.pipeline'))), notice, card(t('graph'), null, graph), h('section', { class: 'card' }, list)];
}

function summary(ill, back) {
  const well = !ill.length && h('p', { class: 'state ready' }, t('allWell'));
  const returned = back.length > 0 && h('p', null, back.map((one) => [h('strong', null, one.name), ` ${t('cameBack', { count: one.restarts })} `]));
  return [well || wrong(ill), returned].filter(Boolean);
}

function wrong(ill) {
  return h('div', { class: `notice ${ill.some((one) => tone(one.state) === 'ill') ? 'ill' : ''}` }, h('p', null, h('strong', null, t('notWell', { count: ill.length }))),
    h('ul', null, ill.map((one) => h('li', { class: 'advice' }, h('strong', null, one.name), ` ${t(`state.${one.state}`)}. `, prose(one.why ? `${one.why.replace(/^./, (first) => first.toUpperCase()).replace(/\.?$/, '.')}` : '')))));
}

/** Layers run from left to right, with the processes of each below one another. The hub hears everyone, so it stands apart. */
function picture({ at: news, nodes, edges }) {
  const layers = [...new Set(nodes.map((one) => one.layer ?? 0))].sort((a, b) => a - b).map((layer) => nodes.filter((one) => (one.layer ?? 0) === layer));
  const most = Math.max(...layers.map((layer) => layer.length)), height = most * DOWN + 10;
  const at = new Map(layers.flatMap((layer, column) => layer.map((one, row) => [one.name, [4 + column * ACROSS, 6 + (row + (most - layer.length) / 2) * DOWN]])));
  const pairs = new Map();
  for (const edge of edges) {
    const key = `${edge.from} ${edge.to}`, one = pairs.get(key) ?? { ...edge, rate: 0, data: false };
    pairs.set(key, { ...one, rate: one.rate + (edge.rate ?? 0), data: one.data || edge.kind === 'data' });
  }
  const curve = ({ from, to, data, rate }) => {
    const [a, b] = [at.get(from), at.get(to)];
    if (!a || !b || (!data && b[0] <= a[0])) return null;
    const [x1, y1, x2, y2] = b[0] > a[0] ? [a[0] + WIDE, a[1] + TALL / 2, b[0], b[1] + TALL / 2] : [a[0], a[1] + TALL / 2, b[0] + WIDE, b[1] + TALL / 2];
    const bend = Math.abs(x2 - x1) / 2;
    return s('path', { class: `edge ${data ? '' : 'control'} ${rate > 0.5 ? 'busy' : ''}`, d: `M${x1} ${y1}C${x1 + (x2 > x1 ? bend : -bend)} ${y1} ${x2 + (x2 > x1 ? -bend : bend)} ${y2} ${x2} ${y2}` });
  };
  const node = (one) => {
    const [x, y] = at.get(one.name), back = again(one, Date.parse(news)), kind = back === null ? tone(one.state) : 'wait';
    const below = back !== null ? t('restarted', { time: ago(back) }) : kind === 'ready' ? (one.received || one.sent ? t('messages', { rate: number((one.received ?? 0) + (one.sent ?? 0), 1) }) : t('state.ready')) : t(`state.${one.state}`);
    return s('g', { class: `node ${kind}`, 'data-name': one.name, 'data-state': one.state, 'data-restarts': one.restarts ?? 0 }, s('rect', { x, y, width: WIDE, height: TALL, rx: 9 }), s('circle', { class: 'dot', cx: x + 12, cy: y + 16, r: 4.5 }),
      s('text', { class: 'name', x: x + 22, y: y + 20 }, one.name), s('text', { class: 'said', x: x + 12, y: y + 37 }, back !== null ? below : one.behind && kind === 'ready' ? t('left', { count: number(one.behind) }) : one.behind ? `${below} · ${number(one.behind)}` : below));
  };
  const width = (layers.length - 1) * ACROSS + WIDE + 8, svg = drawing(width, height, t('graphOf'), [...pairs.values()].map(curve), nodes.map(node));
  svg.setAttribute('class', 'graph');
  return svg;
}

function restarts(one, now) {
  const count = number(one.restarts ?? 0);
  return one.restarted ? h('time', { datetime: one.restarted, title: moment(one.restarted) }, `${count} · ${ago(Math.max(0, (now - Date.parse(one.restarted)) / 1000))}`) : count;
}

function rows({ at, nodes }) {
  const now = Date.parse(at), rate = (one) => (one === null || one === undefined ? '–' : number(one, 1));
  return scroll(t('view.pipeline'), table(t('view.pipeline'),
    [{ title: t('process') }, { title: t('state'), left: true }, { title: t('behind') }, { title: t('received') }, { title: t('sentRate') }, { title: t('memory') }, { title: t('restarts') }, { title: t('lastCommit') }],
    nodes.map((one) => [one.name, h('span', { class: `state ${tone(one.state)}` }, t(`state.${one.state}`), one.since && h('span', { class: 'small soft' }, ` ${t('lasting', { time: lasting((now - Date.parse(one.since)) / 1000) })}`)),
      one.behind ? number(one.behind) : '–', rate(one.received), rate(one.sent), one.memory ? bytes(one.memory) : '–', restarts(one, now),
      one.lastCommit ? h('time', { datetime: one.lastCommit, title: moment(one.lastCommit) }, ago((now - Date.parse(one.lastCommit)) / 1000)) : '–'])));
}
