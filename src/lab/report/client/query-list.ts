import * as format from '../tables/format.ts';
import type { App, Choice } from './app.ts';
import * as app from './app.ts';
import * as dom from './dom.ts';
import * as queryFilter from './query-filter.ts';

/** The list to pick a query from: filtered by words, ordered by gain, loss or time. */
export function start(state: App): void {
  const words = dom.getElement<HTMLInputElement>('query-words');
  const order = dom.getElement<HTMLSelectElement>('query-order');
  words.addEventListener('input', () => app.choose(state, { words: words.value.trim().toLowerCase() }));
  order.addEventListener('change', () => app.choose(state, { order: order.value as Choice['order'] }));
  const list = dom.getElement('query-list');
  app.watch(state, ['words', 'order'], () => {
    order.value = state.choice.order;
    if (words.value.trim().toLowerCase() !== state.choice.words) words.value = state.choice.words;
  });
  list.addEventListener('keydown', (event) => moveFocus(list, event));
  app.watch(state, ['metric', 'left', 'right', 'words', 'order', 'stratum', 'moved', 'lost'], () =>
    fillList(state, list),
  );
  app.watch(state, ['query'], () => markOpened(state, list));
}

/** Queries that hold every word and pass the filters, in the chosen order. */
export function listMatchingQueries(state: App): { query: number; gain: number }[] {
  const { words, order, left, right } = state.choice;
  const wanted = words.split(/\s+/);
  const { queries } = state.data;
  const found = queries.flatMap(({ text, author, id }, query) => {
    const content = `${text} ${author} ${id}`.toLowerCase();
    if (!wanted.every((word) => content.includes(word)) || !queryFilter.passesFilters(state, query)) return [];
    return [{ query, gain: app.getQueryValue(state, right, query) - app.getQueryValue(state, left, query) }];
  });
  const time = (query: number) => queries[query]?.timestamp ?? 0;
  if (order === 'time') return found.sort((a, b) => time(a.query) - time(b.query));
  return found.sort((a, b) => (order === 'gain' ? b.gain - a.gain : a.gain - b.gain));
}

/** At most 500 rows; more words lead to the rest. */
function fillList(state: App, list: HTMLElement): void {
  const rows = listMatchingQueries(state);
  list.replaceChildren(...rows.slice(0, 500).map(({ query, gain }) => listRow(state, query, gain)));
  const { metric, left, right } = state.choice;
  const { metrics, arms, queries } = state.data;
  const shown = rows.length > 500 ? `first 500 of ${rows.length}` : `${rows.length}`;
  const absent = queryFilter.listArmsWithoutRankings(state);
  const reason = absent.length === 0 ? '' : `. The page does not hold the rankings of ${absent.join(' and ')}`;
  dom.getElement('query-count').textContent =
    `${shown} of ${queries.length} queries; ${metrics[metric]}, ${arms[right]?.name} minus ${arms[left]?.name}${reason}`;
  markOpened(state, list);
}

function listRow(state: App, query: number, gain: number): HTMLElement {
  const kind = gain > 0 ? 'up' : gain < 0 ? 'down' : 'same';
  const figure = dom.createNode('span', { class: `gain ${kind}` }, format.formatSigned(gain, 3));
  const text = dom.createNode('span', { class: 'line' }, state.data.queries[query]?.text.slice(0, 160) ?? '');
  const button = dom.createNode('button', { type: 'button', 'data-query': String(query) }, figure, text);
  button.addEventListener('click', () => app.choose(state, { query }));
  return dom.createNode('li', {}, button);
}

function markOpened(state: App, list: HTMLElement): void {
  list.querySelector('[aria-current]')?.removeAttribute('aria-current');
  const button = list.querySelector<HTMLElement>(`[data-query="${state.choice.query}"]`);
  button?.setAttribute('aria-current', 'true');
  if (button) showWithin(list, button);
}

/** Scrolls the list alone, never the page. */
function showWithin(list: HTMLElement, row: HTMLElement): void {
  const [frame, box] = [list.getBoundingClientRect(), row.getBoundingClientRect()];
  if (box.top < frame.top) list.scrollTop -= frame.top - box.top;
  if (box.bottom > frame.bottom) list.scrollTop += box.bottom - frame.bottom;
}

/** The arrow keys go through the list. */
function moveFocus(list: HTMLElement, event: KeyboardEvent): void {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined) return;
  const buttons = [...list.querySelectorAll('button')];
  const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
  buttons[Math.min(Math.max(at + step, 0), buttons.length - 1)]?.focus();
  event.preventDefault();
}
