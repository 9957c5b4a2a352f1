import { RagPlusPlusError } from '../../core/errors/errors.ts';
import { parseMetric } from '../../eval/metrics/metric.ts';
import type { ListReach } from '../../ops/fusion/reach.ts';
import { readArm } from '../../rank/retrieval/written-steps.ts';
import type { ArmOptions } from '../config/arm-options.ts';
import type { ExperimentConfig } from '../config/config-schema.ts';
import type { ProtocolWarning } from '../measure/result.ts';
import { describeWarning } from '../measure/warning.ts';

/** The ranks that the figures of a run look at: the largest cutoff of its metrics; the depth of the rankings, if no metric has one. */
function findDeepestRank({ metrics, depth }: Pick<ExperimentConfig['evaluation'], 'metrics' | 'depth'>): number {
  const cutoffs = metrics.flatMap((metric) => parseMetric(metric).cutoff ?? []);
  return cutoffs.length === 0 ? depth : Math.max(...cutoffs);
}

function describeRanks({ source, agreeing, apart }: ListReach): string {
  return `${source} ${agreeing} and ${apart}`;
}

function describeArmReach(arm: ArmOptions, deepest: number): string | null {
  const { steps, outline } = readArm(arm);
  const fusion = steps.map((step) => step.reach(outline)).find((reach) => reach !== null);
  if (fusion === undefined) return null;
  try {
    const barred = fusion.compute().filter(({ agreeing }) => agreeing > deepest);
    if (barred.length === 0) return null;
    const remedy =
      fusion.k === null
        ? 'raise the weights of these lists'
        : `raise the weights of these lists or lower k of ${fusion.method}, now ${fusion.k}`;
    return `best rank of a turn that one list alone finds, if the other lists agree and if they share no turn: ${barred.map(describeRanks).join(', ')}; the metrics read the top ${deepest}, so ${remedy}`;
  } catch (error) {
    if (!(error instanceof RagPlusPlusError)) throw error;
    // A fusion of a plugin may refuse lists that no query has; that does not end a run.
    return `the best ranks under ${fusion.method} were not computed, ${error.code}: ${error.message}`;
  }
}

/**
 * A warning for each arm with a list that cannot bring a turn of its own to the ranks that are measured. Null controls and repetitions fuse as the arm that
 * they repeat, and have none of their own.
 */
export function findReachWarnings(
  arms: readonly ArmOptions[],
  evaluation: Pick<ExperimentConfig['evaluation'], 'metrics' | 'depth'>,
): ProtocolWarning[] {
  const deepest = findDeepestRank(evaluation);
  return arms
    .filter(({ control, repeats }) => control === null && repeats === null)
    .flatMap((arm) => {
      const text = describeArmReach(arm, deepest);
      return text === null ? [] : [describeWarning('unreachable-list', arm.name, text)];
    });
}
