import type { Payload } from '../payload.ts';

/**
 * The scripts of the page. Their functions are put into it as text (see ../client-script.ts), a file as one object of the same name, so a file imports
 * nothing at run time: what it takes from another is declared. Nothing but functions may stand at the top level, and all of them are exported.
 */

/** What the reader has chosen; arms, metrics and queries by position. */
export interface Choice {
  metric: number;
  left: number;
  right: number;
  query: number;
  order: 'gain' | 'loss' | 'time';
  words: string;
}

export interface App {
  readonly data: Payload;
  readonly choice: Choice;
  readonly watchers: { readonly keys: readonly (keyof Choice)[]; readonly render: () => void }[];
}

/** Begins with the baseline beside the arm that is best in the first metric. */
export function createApp(data: Payload): App {
  const means = data.arms.map((arm, at) =>
    at === data.baseline ? Number.NEGATIVE_INFINITY : (arm.intervals[0]?.[0] ?? 0),
  );
  const right = data.arms.length > 1 ? means.indexOf(Math.max(...means)) : data.baseline;
  const choice: Choice = { metric: 0, left: data.baseline, right, query: -1, order: 'gain', words: '' };
  return { data, choice, watchers: [] };
}

/** Renders now, and again whenever one of the keys is chosen anew. */
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
export function valueAt(app: App, arm: number, query: number): number {
  return app.data.arms[arm]?.perQuery[app.choice.metric]?.[query] ?? 0;
}
