import * as format from '../tables/format.ts';
import type { App, Choice } from './app.ts';
import * as app from './app.ts';
import * as dom from './dom.ts';
import * as ranking from './ranking.ts';

/** How B ranks the best relevant turn, compared with the baseline. */
const MOVES: Readonly<Record<Choice['moved'], string>> = {
  '': 'any',
  changed: 'changed',
  up: 'better',
  down: 'worse',
};

/** Selects that keep some of the queries in the list; a page has those that it has data for. */
export function start(state: App): void {
  const { strata, fates, baseline, arms } = state.data;
  const hasRankings = baseline >= 0 && arms.some(({ rankings }) => rankings !== null);
  const levels = strata.flatMap(({ name, levels: all }) =>
    all.map((level) => [`${name}: ${level.name}`, `${name}: ${level.name} (${level.queries})`] as const),
  );
  bindFilter(state, 'stratum', levels.length === 0 ? [] : [['', 'all'], ...levels]);
  bindFilter(state, 'moved', hasRankings ? Object.entries(MOVES) : []);
  const stages = fates.map((fate) => [fate, format.formatFate(fate)] as const);
  bindFilter(state, 'lost', stages.length === 0 ? [] : [['', 'any stage'], ...stages]);
}

/** A select without options stays hidden. */
function bindFilter(
  state: App,
  key: 'stratum' | 'moved' | 'lost',
  options: readonly (readonly [value: string, label: string])[],
): void {
  const select = dom.getElement<HTMLSelectElement>(`query-${key}`);
  select.closest<HTMLElement>('.control')?.toggleAttribute('hidden', options.length === 0);
  select.replaceChildren(...options.map(([value, label]) => dom.createNode('option', { value }, label)));
  select.addEventListener('change', () => app.choose(state, { [key]: select.value } as Partial<Choice>));
  app.watch(state, [key], () => {
    select.value = state.choice[key];
  });
}

/** The arms whose rankings a chosen filter needs but the page does not hold: no query passes the filter then. */
export function listArmsWithoutRankings({ data, choice }: App): string[] {
  const needed = [
    ...(choice.moved === '' ? [] : [data.baseline, choice.right]),
    ...(choice.lost === '' ? [] : [choice.right]),
  ];
  const missing = needed.flatMap((at) => {
    const arm = data.arms[at];
    return arm?.rankings === null ? [arm.name] : [];
  });
  return [...new Set(missing)];
}

/** True if a query passes the filters, by the turns and fates of arm B. */
export function passesFilters(state: App, query: number): boolean {
  const { stratum, moved, lost, right } = state.choice;
  if (stratum !== '' && !listLevels(state, query).includes(stratum)) return false;
  if (lost !== '' && ![...ranking.indexFates(state, right, query).values()].includes(lost)) return false;
  if (listArmsWithoutRankings(state).length > 0) return false;
  if (moved === '') return true;
  const change = findBestRank(state, right, query) - findBestRank(state, state.data.baseline, query);
  if (moved === 'changed') return change !== 0 && !Number.isNaN(change);
  return moved === 'up' ? change < 0 : change > 0;
}

/** The levels of a query, as the select names them. */
export function listLevels({ data }: App, query: number): string[] {
  return data.strata.flatMap(({ name, levels, of }) => {
    const level = levels[of[query] ?? -1];
    return level === undefined ? [] : [`${name}: ${level.name}`];
  });
}

/** The rank of the best relevant turn among those that the page holds; infinite without one, so that two absences are no change. */
export function findBestRank(state: App, arm: number, query: number): number {
  const grades = ranking.indexGrades(state, query);
  const ranks = [...ranking.indexRanks(state, arm, query)].flatMap(([turn, rank]) =>
    (grades.get(turn) ?? 0) >= state.data.relevantGrade ? [rank] : [],
  );
  return Math.min(...ranks);
}
