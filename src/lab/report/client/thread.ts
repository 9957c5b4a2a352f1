import * as format from '../tables/format.ts';
import type { App } from './app.ts';
import * as dom from './dom.ts';
import * as ranking from './ranking.ts';

/** A row of a thread: a turn, or the query itself if it is not a turn of the page (-1). */
export interface ThreadRow {
  readonly turn: number;
  readonly depth: number;
  readonly isQuery: boolean;
}

/** The known facts of a query's turns: grades, ranks and fates in both columns. */
interface Marks {
  readonly grades: ReadonlyMap<number, number>;
  readonly A: ReadonlyMap<number, number>;
  readonly B: ReadonlyMap<number, number>;
  readonly fates: { readonly A: ReadonlyMap<number, string>; readonly B: ReadonlyMap<number, string> };
}

/** The conversations of the query's relevant turns, each as an indented list. */
export function renderThreads(state: App, query: number): HTMLElement[] {
  const grades = ranking.indexGrades(state, query);
  const { names } = state.data.turns;
  const { left, right } = state.choice;
  const marks = {
    grades,
    A: ranking.indexRanks(state, left, query),
    B: ranking.indexRanks(state, right, query),
    fates: { A: ranking.indexFates(state, left, query), B: ranking.indexFates(state, right, query) },
  };
  return listConversations(state, grades).map((id) => {
    const threadRows = layOutThread(state, id, query, grades);
    const rows = threadRows.map((shownRow) => renderThreadRow(state, shownRow, query, marks));
    const heading = dom.createNode(
      'h4',
      {},
      names[id] ?? '',
      dom.createNode('span', { class: 'quiet' }, ` ${threadRows.length} turns`),
    );
    const list = dom.createNode('ol', { class: 'thread', tabindex: '0', 'aria-label': `thread ${names[id]}` }, ...rows);
    return dom.createNode('div', {}, heading, list);
  });
}

/** The conversations of the judged turns that have a grade above 0. Documents of run files have none. */
export function listConversations({ data }: App, grades: ReadonlyMap<number, number>): number[] {
  const graded = [...grades].filter(([, grade]) => grade > 0);
  const found = new Set(graded.map(([turn]) => data.turns.conversation[turn] ?? -1));
  return [...found].filter((conversation) => data.turns.names[conversation] !== '');
}

/** Depth first, siblings by time. A query that is no turn of the page is below its parent, the relevant turn, if there is just one. */
export function layOutThread(
  state: App,
  conversationId: number,
  query: number,
  grades: ReadonlyMap<number, number>,
): ThreadRow[] {
  const { id, conversation } = state.data.turns;
  const turns = id.flatMap((_, turn) => (conversation[turn] === conversationId ? [turn] : []));
  const own = turns.find((turn) => turn === state.data.queries[query]?.turn);
  const parents = turns.filter((turn) => (grades.get(turn) ?? 0) >= state.data.relevantGrade);
  const answered = own === undefined && parents.length === 1 ? parents[0] : undefined;
  const children = groupChildren(state, turns);
  const threadRows: ThreadRow[] = [];
  const stack = (children.get(-1) ?? []).map((turn) => ({ turn, depth: 0 }));
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { turn, depth } = next;
    threadRows.push({ turn, depth, isQuery: turn === own });
    if (turn === answered) threadRows.push({ turn: -1, depth: depth + 1, isQuery: true });
    for (const child of children.get(turn) ?? []) stack.push({ turn: child, depth: depth + 1 });
  }
  return threadRows;
}

/** Newest child first, which a stack hands back oldest first; roots under -1. */
function groupChildren(state: App, turns: readonly number[]): Map<number, number[]> {
  const { parent, timestamp } = state.data.turns;
  const children = new Map<number, number[]>();
  for (const turn of [...turns].sort((a, b) => (timestamp[b] ?? 0) - (timestamp[a] ?? 0))) {
    const above = parent[turn] ?? -1;
    const siblings = children.get(above);
    if (siblings === undefined) children.set(above, [turn]);
    else siblings.push(turn);
  }
  return children;
}

function renderThreadRow(state: App, shownRow: ThreadRow, query: number, marks: Marks): HTMLElement {
  const { turns, queries } = state.data;
  const { turn, depth, isQuery } = shownRow;
  const asked = queries[query];
  const time = turn < 0 ? asked?.timestamp : turns.timestamp[turn];
  const author = turn < 0 ? asked?.author : turns.names[turns.author[turn] ?? -1];
  const text = turn < 0 ? asked?.text : turns.text[turn];
  const badges = renderTurnBadges(state, shownRow, marks);
  const later = !isQuery && (time ?? 0) >= (asked?.timestamp ?? 0);
  const ranked = marks.A.has(turn) || marks.B.has(turn);
  const kinds = ['place', isQuery ? 'is-query' : '', later ? 'later' : '', ranked ? 'ranked' : ''];
  const row = dom.createNode(
    'li',
    { class: kinds.filter(Boolean).join(' '), 'aria-level': String(depth + 1) },
    dom.createNode('span', { class: 'badges' }, ...badges),
    dom.createNode('span', { class: 'quiet' }, `${author ?? ''} ${format.formatMinute(time ?? 0)}`),
    dom.createNode('span', { class: 'line' }, text?.slice(0, 240) ?? ''),
  );
  row.style.setProperty('--depth', String(Math.min(depth, 12)));
  return row;
}

function renderTurnBadges(state: App, { turn, isQuery }: ThreadRow, marks: Marks): HTMLElement[] {
  const badges = (['A', 'B'] as const).flatMap((letter) => {
    const rank = marks[letter].get(turn);
    if (rank !== undefined) return [dom.createBadge(`letter-${letter}`, `${letter} ${rank}`)];
    const fate = marks.fates[letter].get(turn);
    return fate === undefined ? [] : [createFateBadge(letter, fate)];
  });
  const grade = marks.grades.get(turn);
  if (isQuery) return [...badges, dom.createBadge('query', 'query')];
  return grade === undefined ? badges : [...badges, dom.createGradeBadge(state, grade, 'short')];
}

/** The fate of a relevant turn that is not among the ranks of the page. */
function createFateBadge(letter: 'A' | 'B', fate: string): HTMLElement {
  const kept = fate === 'kept';
  const stage = format.formatFate(fate);
  const node = dom.createBadge(`letter-${letter} fate`, kept ? `${letter} below` : `${letter} ✗ ${stage}`);
  node.title = kept ? `kept by arm ${letter}, below the ranks shown` : `lost by arm ${letter}: ${stage}`;
  return node;
}
