import type { QueryPayload } from '../page/payload.ts';
import * as format from '../tables/format.ts';
import * as address from './address.ts';
import type { App } from './app.ts';
import * as app from './app.ts';
import * as attentionMap from './attention-map.ts';
import * as coordinatesFigure from './coordinates-figure.ts';
import * as dom from './dom.ts';
import * as queryFilter from './query-filter.ts';
import * as queryList from './query-list.ts';
import * as ranking from './ranking.ts';
import * as thread from './thread.ts';
import * as threadTree from './thread-tree.ts';

/** Opens the query of the address, or the one with the greatest gain, and shows every query that is chosen after it. */
export function start(state: App): void {
  const isLinked = state.choice.query >= 0;
  bindSelects(state);
  queryFilter.start(state);
  queryList.start(state);
  if (!isLinked) app.choose(state, { query: queryList.listMatchingQueries(state)[0]?.query ?? -1 });
  app.watch(state, ['query', 'left', 'right', 'metric'], () => showQuery(state));
  for (const picture of [threadTree, coordinatesFigure, attentionMap]) picture.start(state);
  const [opening] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
  // a reload keeps the place of the page
  if (isLinked && opening?.type !== 'reload') dom.getElement('inspector').scrollIntoView();
}

function bindSelects(state: App): void {
  const { arms, metrics } = state.data;
  const names = arms.map(({ name, rankings }) => (rankings === null ? `${name} (no rankings)` : name));
  dom.bindSelect(state, 'inspector-left', 'left', names);
  dom.bindSelect(state, 'inspector-right', 'right', names);
  dom.bindSelect(state, 'inspector-metric', 'metric', metrics);
}

function showQuery(state: App): void {
  const { query, left, right } = state.choice;
  const opened = state.data.queries[query];
  if (opened === undefined) return;
  dom.getElement('query-card').replaceChildren(...renderQueryCard(state, opened));
  const [ranksA, ranksB] = [ranking.indexRanks(state, left, query), ranking.indexRanks(state, right, query)];
  dom
    .getElement('rankings')
    .replaceChildren(
      ranking.renderRankingColumn(state, { arm: left, query, letter: 'A', others: ranksB }),
      ranking.renderRankingColumn(state, { arm: right, query, letter: 'B', others: ranksA }),
    );
  dom.getElement('threads').replaceChildren(...thread.renderThreads(state, query));
}

function renderQueryCard(
  state: App,
  { id, text, timestamp, author, channel, judgedElsewhere }: QueryPayload,
): HTMLElement[] {
  const note = judgedElsewhere === 0 ? '' : `${judgedElsewhere} judgements are not on this page`;
  // Queries of run files have no time: it is 0.
  const time = timestamp === 0 ? '' : `${format.formatMinute(timestamp)} UTC`;
  const origin = [author, channel, time, note].filter((part) => part !== '').map((part) => `${part} · `);
  const link = dom.createNode('a', { href: address.formatAddress(state) }, id);
  return [
    dom.createNode('p', { class: 'quiet' }, origin.join(''), link),
    dom.createNode('p', { class: 'query-text' }, text),
  ];
}
