import * as format from '../tables/format.ts';
import type { App } from './app.ts';
import * as dom from './dom.ts';
import * as ranking from './ranking.ts';

/** A row of a thread: a turn, or the query itself if it is not a turn of the page (-1). */
export interface Place {
  readonly turn: number;
  readonly depth: number;
  readonly isQuery: boolean;
}

/** The known facts of a query's turns: grades, ranks and fates in both columns. */
export interface Marks {
  readonly grades: ReadonlyMap<number, number>;
  readonly A: ReadonlyMap<number, number>;
  readonly B: ReadonlyMap<number, number>;
  readonly fates: { readonly A: ReadonlyMap<number, string>; readonly B: ReadonlyMap<number, string> };
}

/** The conversations of the query's relevant turns, each as an indented list. */
export function threads(state: App, query: number): HTMLElement[] {
  const grades = ranking.gradesOf(state, query);
  const { conversation, names } = state.data.turns;
  const relevant = [...grades].filter(([, grade]) => grade > 0).map(([turn]) => conversation[turn] ?? -1);
  const { left, right } = state.choice;
  const marks = {
    grades,
    A: ranking.ranksOf(state, left, query),
    B: ranking.ranksOf(state, right, query),
    fates: { A: ranking.fatesOf(state, left, query), B: ranking.fatesOf(state, right, query) },
  };
  return [...new Set(relevant)].map((id) => {
    const places = placesOf(state, id, query, grades);
    const rows = places.map((place) => threadRow(state, place, query, marks));
    const heading = dom.element(
      'h4',
      {},
      names[id] ?? '',
      dom.element('span', { class: 'quiet' }, ` ${places.length} turns`),
    );
    const list = dom.element('ol', { class: 'thread', tabindex: '0', 'aria-label': `thread ${names[id]}` }, ...rows);
    return dom.element('div', {}, heading, list);
  });
}

/** Depth first, siblings by time. A query that is no turn of the page is below its parent, the relevant turn, if there is just one. */
export function placesOf(
  state: App,
  conversationId: number,
  query: number,
  grades: ReadonlyMap<number, number>,
): Place[] {
  const { id, conversation } = state.data.turns;
  const turns = id.flatMap((_, turn) => (conversation[turn] === conversationId ? [turn] : []));
  const own = turns.find((turn) => turn === state.data.queries[query]?.turn);
  const parents = turns.filter((turn) => (grades.get(turn) ?? 0) >= state.data.relevantGrade);
  const answered = own === undefined && parents.length === 1 ? parents[0] : undefined;
  const children = childrenOf(state, turns);
  const places: Place[] = [];
  const stack = (children.get(-1) ?? []).map((turn) => ({ turn, depth: 0 }));
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { turn, depth } = next;
    places.push({ turn, depth, isQuery: turn === own });
    if (turn === answered) places.push({ turn: -1, depth: depth + 1, isQuery: true });
    for (const child of children.get(turn) ?? []) stack.push({ turn: child, depth: depth + 1 });
  }
  return places;
}

/** Newest child first, which a stack hands back oldest first; roots under -1. */
function childrenOf(state: App, turns: readonly number[]): Map<number, number[]> {
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

function threadRow(state: App, place: Place, query: number, marks: Marks): HTMLElement {
  const { turns, queries } = state.data;
  const { turn, depth, isQuery } = place;
  const asked = queries[query];
  const time = turn < 0 ? asked?.timestamp : turns.timestamp[turn];
  const author = turn < 0 ? asked?.author : turns.names[turns.author[turn] ?? -1];
  const text = turn < 0 ? asked?.text : turns.text[turn];
  const badges = badgesOf(state, place, marks);
  const later = !isQuery && (time ?? 0) >= (asked?.timestamp ?? 0);
  const ranked = marks.A.has(turn) || marks.B.has(turn);
  const kinds = ['place', isQuery ? 'is-query' : '', later ? 'later' : '', ranked ? 'ranked' : ''];
  const row = dom.element(
    'li',
    { class: kinds.filter(Boolean).join(' '), 'aria-level': String(depth + 1) },
    dom.element('span', { class: 'badges' }, ...badges),
    dom.element('span', { class: 'quiet' }, `${author ?? ''} ${format.minute(time ?? 0)}`),
    dom.element('span', { class: 'line' }, text?.slice(0, 240) ?? ''),
  );
  row.style.setProperty('--depth', String(Math.min(depth, 12)));
  return row;
}

function badgesOf(state: App, { turn, isQuery }: Place, marks: Marks): HTMLElement[] {
  const badges = (['A', 'B'] as const).flatMap((letter) => {
    const rank = marks[letter].get(turn);
    if (rank !== undefined) return [dom.badge(`letter-${letter}`, `${letter} ${rank}`)];
    const fate = marks.fates[letter].get(turn);
    return fate === undefined ? [] : [fateBadge(letter, fate)];
  });
  const grade = marks.grades.get(turn);
  if (isQuery) return [...badges, dom.badge('query', 'query')];
  return grade === undefined ? badges : [...badges, dom.gradeBadge(state, grade, 'short')];
}

/** The fate of a relevant turn that is not among the ranks of the page. */
export function fateBadge(letter: 'A' | 'B', fate: string): HTMLElement {
  const kept = fate === 'kept';
  const stage = format.fateName(fate);
  const node = dom.badge(`letter-${letter} fate`, kept ? `${letter} below` : `${letter} ✗ ${stage}`);
  node.title = kept ? `kept by arm ${letter}, below the ranks shown` : `lost by arm ${letter}: ${stage}`;
  return node;
}
