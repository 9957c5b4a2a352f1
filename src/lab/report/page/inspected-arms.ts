import type { ArmResult, ExperimentResult } from '../../measure/result.ts';

/** The maximum number of arms whose rankings are in the page; the figures of all arms are. */
export const INSPECTED_ARMS = 24;

/**
 * The arms whose rankings the page holds: the baseline, the best ones by the first metric (a third of the places, so that there is room for what the config
 * names first), then the first of the config, null controls after all others. All of them if there are at most `limit`.
 *
 * @returns their names.
 */
export function selectInspectedArms(
  { arms, baseline, metrics }: ExperimentResult,
  limit = INSPECTED_ARMS,
): Set<string> {
  const mean = ({ metrics: means }: ArmResult) => means[metrics[0] ?? '']?.mean ?? Number.NEGATIVE_INFINITY;
  const controls = arms.filter(({ control }) => control !== null);
  const others = arms.filter(({ control }) => control === null);
  const best = others.toSorted((a, b) => mean(b) - mean(a)).slice(0, Math.ceil(limit / 3));
  const base = others.filter(({ name }) => name === baseline);
  const chosen = new Set([...base, ...best].map(({ name }) => name));
  for (const { name } of [...others, ...controls]) if (chosen.size < limit) chosen.add(name);
  return chosen;
}
