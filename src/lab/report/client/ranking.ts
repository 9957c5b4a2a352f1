import type { ArmPayload } from '../page/payload.ts';
import * as format from '../tables/format.ts';
import type { App } from './app.ts';
import * as contributions from './contributions.ts';
import * as dom from './dom.ts';

/** A ranked turn, taken from the flat array of its ranking. */
export interface Ranked {
  readonly turn: number;
  readonly rank: number;
  readonly score: number;
  readonly components: readonly number[];
}

/** The content of one column of candidates. */
interface Column {
  readonly arm: number;
  readonly query: number;
  readonly letter: 'A' | 'B';
  /** Ranks of the same query's turns in the other column. */
  readonly others: ReadonlyMap<number, number>;
}

export function listRanking(state: App, arm: number, query: number): Ranked[] {
  const { components, rankings } = state.data.arms[arm] as ArmPayload;
  const flat = rankings?.[query] ?? [];
  const width = 2 + components.length;
  return Array.from({ length: flat.length / width }, (_, at) => {
    const [turn = -1, score = 0, ...parts] = flat.slice(at * width, (at + 1) * width);
    return { turn, rank: at + 1, score, components: parts };
  });
}

export function indexRanks(state: App, arm: number, query: number): Map<number, number> {
  return new Map(listRanking(state, arm, query).map(({ turn, rank }) => [turn, rank]));
}

/** Grades of a query's judged turns. */
export function indexGrades(state: App, query: number): Map<number, number> {
  const judged = state.data.queries[query]?.judged ?? [];
  return new Map(judged.flatMap((turn, at) => (at % 2 === 0 ? [[turn, judged[at + 1] ?? 0] as const] : [])));
}

/** The fate of a query's relevant turns in an arm, by turn: `kept`, or the stage that lost it. */
export function indexFates(state: App, arm: number, query: number): Map<number, string> {
  const flat = state.data.arms[arm]?.lost?.[query] ?? [];
  return new Map(
    flat.flatMap((turn, at) => (at % 2 === 0 ? [[turn, state.data.fates[flat[at + 1] ?? -1] ?? ''] as const] : [])),
  );
}

export function renderRankingColumn(state: App, column: Column): HTMLElement {
  const { arm, query, letter } = column;
  const { name, perQuery, components, rankings, selects } = state.data.arms[arm] as ArmPayload;
  const heading = dom.createNode('h4', {}, dom.createBadge(`letter-${letter}`, letter), ` ${name}`);
  const figures = state.data.metrics.map(
    (metric, at) => `${metric}\u00a0${format.formatDecimal(perQuery[at]?.[query] ?? 0, 3)}`,
  );
  const ranking = listRanking(state, arm, query);
  const scales = components.map((_, part) => Math.max(...ranking.map((row) => Math.abs(row.components[part] ?? 0))));
  const grades = indexGrades(state, query);
  const stacks = contributions.buildStacks(state.data.arms[arm] as ArmPayload, query);
  const looks = { scales: stacks === null ? scales : null, stacks };
  const rows = ranking.map((row) => renderCandidate(state, column, row, looks, grades.get(row.turn) ?? null));
  const list = dom.createNode('ol', { class: 'candidates', 'aria-label': `candidates of ${name}` }, ...rows);
  const absence = rankings === null ? 'the page does not hold the rankings of this arm' : 'no candidates';
  const nothing = rows.length === 0 ? [dom.createNode('p', { class: 'quiet' }, absence)] : [];
  return dom.createNode(
    'section',
    { class: 'column' },
    heading,
    dom.createNode('p', { class: 'quiet' }, figures.join(' · ')),
    ...(stacks === null ? [] : [contributions.renderPartLegend(state, stacks, selects)]),
    ...nothing,
    list,
  );
}

/** The bars of a candidate: one of parts that add up to its score or, without parts, one for each component by its largest in the ranking. */
interface Looks {
  readonly scales: readonly number[] | null;
  readonly stacks: contributions.Stacks | null;
}

function renderCandidate(
  state: App,
  { query, arm, letter, others }: Column,
  row: Ranked,
  { scales, stacks }: Looks,
  grade: number | null,
): HTMLElement {
  const other = others.get(row.turn);
  const elsewhere = letter === 'A' ? 'B' : 'A';
  const head = dom.createNode(
    'div',
    { class: 'candidate-head' },
    dom.createNode('span', { class: 'rank' }, String(row.rank)),
    dom.createGradeBadge(state, grade),
    dom.createNode('span', { class: 'quiet' }, other === undefined ? `not in ${elsewhere}` : `${elsewhere} ${other}`),
    dom.createNode('span', { class: 'score' }, format.formatSignificant(row.score)),
  );
  const parts = (state.data.arms[arm] as ArmPayload).components.map((name, at) =>
    renderComponent(name, row.components[at] ?? 0, scales?.[at] ?? null),
  );
  const list = dom.createNode('dl', { class: 'components' }, ...parts);
  const bar = stacks === null ? [] : [contributions.renderStack(state, stacks, row.rank - 1)];
  const { reasonTexts, reasons } = state.data.arms[arm] as ArmPayload;
  const sentence = reasonTexts[reasons?.[query]?.[row.rank - 1] ?? -1];
  const reason = sentence === undefined ? [] : [dom.createNode('p', { class: 'quiet reason' }, sentence)];
  const text = dom.createNode('p', { class: 'snippet' }, state.data.turns.text[row.turn] ?? '');
  const origin = dom.createNode(
    'p',
    { class: 'quiet' },
    describeOrigin(state, row.turn, query),
    ...createMoreButton(text),
  );
  return dom.createNode('li', { class: chooseRowClass(grade) }, head, ...bar, origin, text, ...reason, list);
}

/** Author, channel, and how long before the query. */
function describeOrigin(state: App, turn: number, query: number): string {
  const { names, author, channel, timestamp } = state.data.turns;
  const asked = state.data.queries[query]?.timestamp ?? 0;
  const parts = [names[author[turn] ?? -1], names[channel[turn] ?? -1], describeAge(asked, timestamp[turn] ?? 0)];
  return parts.filter(Boolean).join(' · ');
}

/** Queries and documents of run files have no time: it is 0. */
function describeAge(asked: number, time: number): string {
  if (asked === 0 || time === 0) return '';
  const age = format.formatDuration(Math.abs(asked - time));
  return asked < time ? `${age} after the query` : `${age} earlier`;
}

function chooseRowClass(grade: number | null): string {
  if (grade === null || grade <= 0) return 'candidate';
  return grade === 1 ? 'candidate relevant least' : 'candidate relevant';
}

/** Three lines of a text are shown; if it may be longer, a button opens the rest. */
function createMoreButton(paragraph: HTMLElement): HTMLElement[] {
  if ((paragraph.textContent ?? '').length < 140) return [];
  const button = dom.createNode('button', { type: 'button', class: 'more', 'aria-expanded': 'false' }, 'more');
  button.addEventListener('click', () => {
    const open = paragraph.classList.toggle('open');
    button.textContent = open ? 'less' : 'more';
    button.setAttribute('aria-expanded', String(open));
  });
  return [button];
}

/** Name, number and, with a scale, a bar as long as its share of the scale. */
function renderComponent(name: string, value: number, scale: number | null): HTMLElement {
  const number = dom.createNode('dd', {}, format.formatSignificant(value));
  if (scale !== null) {
    const bar = dom.createNode('span', { class: value < 0 ? 'bar negative' : 'bar' });
    bar.style.width = `${scale === 0 ? 0 : (100 * Math.abs(value)) / scale}%`;
    number.append(bar);
  }
  return dom.createNode('div', {}, dom.createNode('dt', {}, name), number);
}
