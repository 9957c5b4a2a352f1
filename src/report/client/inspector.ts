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
  const linked = state.data.queries.findIndex(({ id }) => addressOf(id) === location.hash);
  app.choose(state, { query: linked < 0 ? (queryList.listed(state)[0]?.query ?? -1) : linked });
  app.watch(state, ['query', 'left', 'right', 'metric'], () => showQuery(state));
  if (linked >= 0) dom.byId('inspector').scrollIntoView();
}

function showQuery(state: App): void {
  const { query, left, right } = state.choice;
  const opened = state.data.queries[query];
  if (opened === undefined) return;
  dom.byId('query-card').replaceChildren(...queryCard(opened));
  const [ranksA, ranksB] = [ranking.ranksOf(state, left, query), ranking.ranksOf(state, right, query)];
  dom
    .byId('rankings')
    .replaceChildren(
      ranking.rankingColumn(state, { arm: left, query, letter: 'A', others: ranksB }),
      ranking.rankingColumn(state, { arm: right, query, letter: 'B', others: ranksA }),
    );
  dom.byId('threads').replaceChildren(...thread.threads(state, query));
}

/** The part of the page's address that opens a query. */
function addressOf(id: string): string {
  return `#query=${encodeURIComponent(id)}`;
}

function queryCard({ id, text, timestamp, author, channel, judgedElsewhere }: QueryPayload): HTMLElement[] {
  const note = judgedElsewhere === 0 ? '' : `${judgedElsewhere} judgements are not on this page`;
  const origin = [author, channel, `${format.minute(timestamp)} UTC`, note].filter((part) => part !== '').join(' · ');
  const link = dom.element('a', { href: addressOf(id) }, id);
  return [dom.element('p', { class: 'quiet' }, `${origin} · `, link), dom.element('p', { class: 'query-text' }, text)];
}
