import { attachDisplay, buildTableBundle } from '../../core/display/display.ts';
import { phrase, stateShown } from '../../core/display/showable-text.ts';

/** The part of an evaluation that is shown. */
interface Measured {
  readonly queryIds: readonly string[];
  readonly values: Readonly<Record<string, readonly number[]>>;
  readonly unanswerable: readonly string[];
  readonly missing: readonly string[];
  readonly unjudged: readonly string[];
}

/** Lets a notebook show an evaluation as a table of means, one row for each metric. @returns the same object. */
export function displayEvaluation<T extends Measured>(evaluation: T): T {
  return attachDisplay(evaluation, ({ queryIds, values, unanswerable, missing, unjudged }) => {
    const rows = Object.entries(values).map(([metric, of]) => ({
      metric: stateShown(metric),
      mean: of.length === 0 ? null : of.reduce((sum, value) => sum + value, 0) / of.length,
    }));
    const notes = { 'without a relevant document': unanswerable, 'without a ranking': missing, unjudged };
    const counts = Object.entries(notes).map(([note, ids]) => (ids.length === 0 ? '' : `, ${ids.length} ${note}`));
    const caption = phrase`means of ${queryIds.length} queries${stateShown(counts.join(''))}`;
    return buildTableBundle(rows, { caption, limit: 100 });
  });
}
