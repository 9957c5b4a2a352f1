import type { App, Choice } from './app.ts';
import * as app from './app.ts';

/** Keys of the address that are texts of the choice as they are; without a text they are left out. */
const TEXTS = {
  find: 'words',
  stratum: 'stratum',
  rank: 'moved',
  lost: 'lost',
  arms: 'filter',
  x: 'horizontal',
  y: 'vertical',
} as const;

const ORDERS: readonly string[] = ['gain', 'loss', 'time'] satisfies Choice['order'][];
const MOVES: readonly string[] = ['changed', 'up', 'down'] satisfies Choice['moved'][];

/** Milliseconds without a change after which the address is written: browsers limit how often. */
const PAUSE = 150;

/** Takes the choices of the address over, before anything is drawn. */
export function read(state: App): void {
  Object.assign(state.choice, parseAddress(state, location.hash));
}

/** Keeps the address and the choices the same, so that a reload or a link restores arms, metric, query, filters and axes. */
export function start(state: App): void {
  let pending = 0;
  const write = () => history.replaceState(null, '', formatAddress(state));
  app.watch(state, ['left', 'right', 'metric', 'query', 'order', ...Object.values(TEXTS)], () => {
    clearTimeout(pending);
    pending = window.setTimeout(write, PAUSE);
  });
  addEventListener('hashchange', () => {
    // a link to a section has no choices: the browser has gone there, and the choices come back into the address
    if (location.hash.includes('=')) app.choose(state, parseAddress(state, location.hash));
    else write();
  });
}

/** The choices as the part of the address that begins with `#`; arms, metric and query by name. */
export function formatAddress({ data, choice }: App): string {
  const values = new URLSearchParams();
  const named = {
    a: data.arms[choice.left]?.name,
    b: data.arms[choice.right]?.name,
    metric: data.metrics[choice.metric],
    query: data.queries[choice.query]?.id,
  };
  for (const [key, name] of Object.entries(named)) if (name !== undefined) values.set(key, name);
  if (choice.order !== 'gain') values.set('order', choice.order);
  for (const [key, text] of Object.entries(TEXTS)) if (choice[text] !== '') values.set(key, choice[text]);
  return `#${values}`;
}

/** The choices of an address. What the page does not have is left out: the address may be of another run. */
export function parseAddress({ data }: App, hash: string): Partial<Choice> {
  const values = new URLSearchParams(hash.slice(1));
  const lists = {
    a: ['left', data.arms.map(({ name }) => name)],
    b: ['right', data.arms.map(({ name }) => name)],
    metric: ['metric', data.metrics],
    query: ['query', data.queries.map(({ id }) => id)],
  } as const;
  const positions = Object.entries(lists).flatMap(([key, [choice, names]]) => {
    const at = names.indexOf(values.get(key) ?? '');
    return at < 0 ? [] : [[choice, at] as const];
  });
  const coordinates = data.arms.flatMap(({ coordinateNames }) => coordinateNames);
  const known: Readonly<Record<string, readonly string[]>> = {
    x: coordinates,
    y: coordinates,
    order: ORDERS,
    rank: MOVES,
    lost: data.fates,
    stratum: data.strata.flatMap(({ name, levels }) => levels.map((level) => `${name}: ${level.name}`)),
  };
  const texts = Object.entries({ ...TEXTS, order: 'order' }).flatMap(([key, choice]) => {
    const text = values.get(key);
    return text === null || !(known[key]?.includes(text) ?? true) ? [] : [[choice, text] as const];
  });
  return Object.fromEntries([...positions, ...texts]);
}
