import { attachDisplay } from '../../core/display/display.ts';
import { buildTableBundle } from '../../core/display/display-table.ts';
import { phrase, stateShown } from '../../core/display/showable-text.ts';

/** The part of a stored run that is shown. */
interface ShownRun {
  readonly summary: {
    readonly experiment: string;
    readonly baseline: string;
    readonly dataset: { readonly name: string };
    readonly arms: readonly { readonly name: string; readonly description: string }[];
    readonly failures: readonly { readonly name: string; readonly message: string }[];
  };
  readonly queries: readonly unknown[];
  /** By arm, the rankings of its queries. */
  readonly runs: ReadonlyMap<string, { readonly size: number }>;
}

/** Lets a notebook show a stored run as a table of its arms. Their figures are those of `rescore`. @returns the same object. */
export function displayStoredRun<T extends ShownRun>(stored: T): T {
  return attachDisplay(stored, ({ summary: { experiment, baseline, dataset, arms, failures }, queries, runs }) => {
    const rows = arms.map(({ name, description }) => ({
      arm: stateShown(name === baseline ? `${name} (baseline)` : name),
      rankings: runs.get(name)?.size ?? 0,
      description: stateShown(description),
    }));
    const failed = failures.map(({ name, message }) => ({ arm: stateShown(`${name} failed: ${message}`) }));
    const caption = phrase`${stateShown(experiment)}: ${queries.length} queries of ${stateShown(dataset.name)}`;
    return buildTableBundle([...rows, ...failed], { caption, limit: 100 });
  });
}
