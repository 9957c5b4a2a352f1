import type { Payload } from '../page/payload.ts';

/** The choices of the reader; arms, metrics and queries by position. */
export interface Choice {
  metric: number;
  left: number;
  right: number;
  query: number;
  order: 'gain' | 'loss' | 'time';
  words: string;
  /** Filters of the queries: a level of a stratum as `name: level`, how B ranks the best relevant turn, and the fate of a relevant turn in B; empty for all. */
  stratum: string;
  moved: '' | 'changed' | 'up' | 'down';
  lost: string;
  /** Words of the names of the arms that are shown. */
  filter: string;
  /** Axes of the picture of coordinates by name; empty for those that the page begins with. */
  horizontal: string;
  vertical: string;
  /** Factors of the sweep by position; `by` is -1 for none. */
  across: number;
  by: number;
  /** The level at which a factor is held that is not drawn, -1 to average over it; a number a factor. */
  held: readonly number[];
}

export interface App {
  readonly data: Payload;
  readonly choice: Choice;
  readonly watchers: { readonly keys: readonly (keyof Choice)[]; readonly render: () => void }[];
}

/** Begins with the baseline, or another arm if the baseline failed, and the best arm in the first metric that is not a null control. */
export function createApp(data: Payload): App {
  const rivals = data.arms.flatMap(({ control }, at) => (control || at === data.baseline ? [] : [at]));
  const mean = (arm: number) => data.arms[arm]?.intervals[0]?.[0] ?? 0;
  const sign = data.signs[0] ?? 1;
  const right = rivals.toSorted((a, b) => sign * (mean(b) - mean(a)))[0] ?? Math.max(0, data.baseline);
  const other = rivals.find((arm) => arm !== right) ?? right;
  const choice: Choice = {
    metric: 0,
    left: data.baseline < 0 ? other : data.baseline,
    right,
    query: -1,
    order: 'gain',
    words: '',
    stratum: '',
    moved: '',
    lost: '',
    filter: '',
    horizontal: '',
    vertical: '',
    across: 0,
    by: data.crossed && data.factors.length > 1 ? 1 : -1,
    held: data.factors.map(() => -1),
  };
  return { data, choice, watchers: [] };
}

/** Renders now, and again whenever one of the keys changes. */
export function watch(app: App, keys: readonly (keyof Choice)[], render: () => void): void {
  app.watchers.push({ keys, render });
  render();
}

export function choose(app: App, change: Partial<Choice>): void {
  const changed = (Object.keys(change) as (keyof Choice)[]).filter((key) => app.choice[key] !== change[key]);
  Object.assign(app.choice, change);
  for (const { keys, render } of app.watchers) if (keys.some((key) => changed.includes(key))) render();
}

/** A query's value in one arm, by the chosen metric. */
export function getQueryValue(app: App, arm: number, query: number): number {
  return app.data.arms[arm]?.perQuery[app.choice.metric]?.[query] ?? 0;
}

/** 1 if more of the chosen metric is better, -1 if less is. */
export function readSign({ data, choice }: App): number {
  return data.signs[choice.metric] ?? 1;
}

/** True if a name contains every word of the filter. */
export function isShown({ choice }: App, name: string): boolean {
  return choice.filter.split(/\s+/).every((word) => name.toLowerCase().includes(word));
}

export function listShownArms(app: App): number[] {
  return app.data.arms.flatMap(({ name }, at) => (isShown(app, name) ? [at] : []));
}

/** The shown arms that fit into a figure: the baseline and the best by the chosen metric, in their order. Null controls come in last. */
export function listDrawnArms(app: App, limit: number): number[] {
  const shown = listShownArms(app);
  if (shown.length <= limit) return shown;
  const { metric } = app.choice;
  const { arms, baseline } = app.data;
  const place = (arm: number) => (arm === baseline ? 0 : arms[arm]?.control ? 2 : 1);
  const mean = (arm: number) => arms[arm]?.intervals[metric]?.[0] ?? 0;
  const sign = readSign(app);
  const best = new Set(shown.toSorted((a, b) => place(a) - place(b) || sign * (mean(b) - mean(a))).slice(0, limit));
  return shown.filter((arm) => best.has(arm));
}

/** Lists the arms of a figure that does not hold all shown arms. */
export function describeDrawnArms(app: App, drawn: readonly number[]): string {
  const shown = listShownArms(app).length;
  if (shown === 0) return 'No arm has such a name.';
  if (drawn.length === shown) return '';
  return `The ${drawn.length} best of ${shown} arms by ${app.data.metrics[app.choice.metric]}; the filter above narrows them.`;
}
