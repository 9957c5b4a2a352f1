import type { QueryPayload } from '../page/payload.ts';
import * as format from '../tables/format.ts';
import type { App } from './app.ts';
import * as app from './app.ts';
import * as dom from './dom.ts';
import * as queryList from './query-list.ts';
import * as ranking from './ranking.ts';
import * as thread from './thread.ts';

/** Opens the query of the address, or the one with the greatest gain, and shows every query that is chosen after it. */
export function start(state: App): void {
  queryList.start(state);
  const linked = state.data.queries.findIndex(({ id }) => formatQueryAddress(id) === location.hash);
  app.choose(state, { query: linked < 0 ? (queryList.listMatchingQueries(state)[0]?.query ?? -1) : linked });
  app.watch(state, ['query', 'left', 'right', 'metric'], () => showQuery(state));
  if (linked >= 0) dom.getElement('inspector').scrollIntoView();
}

function showQuery(state: App): void {
  const { query, left, right } = state.choice;
  const opened = state.data.queries[query];
  if (opened === undefined) return;
  dom.getElement('query-card').replaceChildren(...renderQueryCard(opened));
  const [ranksA, ranksB] = [ranking.indexRanks(state, left, query), ranking.indexRanks(state, right, query)];
  dom
    .getElement('rankings')
    .replaceChildren(
      ranking.renderRankingColumn(state, { arm: left, query, letter: 'A', others: ranksB }),
      ranking.renderRankingColumn(state, { arm: right, query, letter: 'B', others: ranksA }),
    );
  dom.getElement('threads').replaceChildren(...thread.renderThreads(state, query));
}

/** The part of the page's address that opens a query. */
function formatQueryAddress(id: string): string {
  return `#query=${encodeURIComponent(id)}`;
}

function renderQueryCard({ id, text, timestamp, author, channel, judgedElsewhere }: QueryPayload): HTMLElement[] {
  const note = judgedElsewhere === 0 ? '' : `${judgedElsewhere} judgements are not on this page`;
  const origin = [author, channel, `${format.formatMinute(timestamp)} UTC`, note]
    .filter((part) => part !== '')
    .join(' · ');
  const link = dom.createNode('a', { href: formatQueryAddress(id) }, id);
  return [
    dom.createNode('p', { class: 'quiet' }, `${origin} · `, link),
    dom.createNode('p', { class: 'query-text' }, text),
  ];
}
