import type { App } from './app.ts';
import * as app from './app.ts';
import * as dom from './dom.ts';

/** What is drawn of the arms of a cell: their mean and how uncertain it is. */
export interface Point {
  readonly mean: number;
  /** Null without an interval. */
  readonly low: number | null;
  readonly high: number | null;
  /** By position. */
  readonly arms: readonly number[];
}

/** The factors to draw, and a level for each of the others. */
export function start(state: App): void {
  const names = state.data.factors.map(({ name }) => name);
  dom.bindSelect(state, 'sweep-across', 'across', names);
  if (!dom.has('sweep-by')) return;
  dom.bindSelect(state, 'sweep-by', 'by', ['nothing', ...names], -1);
  const held = dom.getElement('sweep-held');
  app.watch(state, ['across', 'by'], () => {
    if (state.choice.across === state.choice.by) app.choose(state, { by: findOtherFactor(state) });
    held.replaceChildren(...renderHeldControls(state));
  });
}

/** A factor that is not the one across. */
function findOtherFactor({ data, choice }: App): number {
  return data.factors.length < 2 ? -1 : (choice.across + 1) % data.factors.length;
}

/** A select for each factor that is not drawn: averaged over, or held at a level. */
function renderHeldControls(state: App): HTMLElement[] {
  const { across, by, held } = state.choice;
  return state.data.factors.flatMap(({ name, levels }, factor) => {
    if (factor === across || factor === by) return [];
    const id = `sweep-held-${factor}`;
    const options = ['averaged', ...levels].map((level, at) =>
      dom.createNode('option', { value: String(at - 1) }, level),
    );
    const select = dom.createNode('select', { id }, ...options);
    select.value = String(held[factor] ?? -1);
    select.addEventListener('change', () => {
      const changed = state.choice.held.map((level, at) => (at === factor ? Number(select.value) : level));
      app.choose(state, { held: changed });
    });
    const label = dom.createNode('label', { for: id }, name);
    return [dom.createNode('span', { class: 'control' }, label, select)];
  });
}

/** The shown arms at a level of the factor across and, if chosen, of the factor by, with the others at their held levels. */
export function listArmsAt(state: App, acrossLevel: number, byLevel: number): number[] {
  const { across, by, held } = state.choice;
  const wanted = held.map((level, factor) => (factor === across ? acrossLevel : factor === by ? byLevel : level));
  return app.listShownArms(state).filter((arm) => {
    const levels = state.data.arms[arm]?.levels ?? [];
    return levels.length > 0 && wanted.every((level, factor) => level < 0 || levels[factor] === level);
  });
}

/** One arm's own interval; of several, the mean over them query by query, with an interval of the clustered mean. */
export function computeSweepPoint(state: App, arms: readonly number[]): Point | null {
  const { metric } = state.choice;
  const [first] = arms;
  if (first === undefined) return null;
  if (arms.length === 1) {
    const [mean = 0, low = null, high = null] = state.data.arms[first]?.intervals[metric] ?? [];
    return { mean, low, high, arms };
  }
  const values = state.data.queries.map((_, query) => {
    const sum = arms.reduce((total, arm) => total + app.getQueryValue(state, arm, query), 0);
    return sum / arms.length;
  });
  const { mean, error } = averageByCluster(
    values,
    state.data.queries.map(({ cluster }) => cluster),
  );
  if (state.data.reach === null) return { mean, low: null, high: null, arms };
  const reach = state.data.reach * error;
  return { mean, low: mean - reach, high: mean + reach, arms };
}

/** Mean and cluster-robust standard error, sqrt(G / (G - 1) sum_g u_g^2) / Q with u_g = sum of group g - its size x the mean; 0 for a single group. */
export function averageByCluster(
  values: readonly number[],
  clusters: readonly number[],
): { readonly mean: number; readonly error: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const deviations = new Map<number, number>();
  for (const [query, value] of values.entries()) {
    const cluster = clusters[query] ?? -1;
    deviations.set(cluster, (deviations.get(cluster) ?? 0) + value - mean);
  }
  const groups = deviations.size;
  const squares = [...deviations.values()].reduce((sum, deviation) => sum + deviation ** 2, 0);
  return { mean, error: groups < 2 ? 0 : Math.sqrt((squares * groups) / (groups - 1)) / values.length };
}
