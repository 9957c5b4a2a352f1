import { ValidationError } from '../../../core/errors/errors.ts';
import { TIE } from '../../../eval/significance/paired-differences.ts';
import type { NullControl } from '../../measure/fit-result.ts';
import type { ArmResult } from '../../measure/result.ts';
import { formatDecimal } from './format.ts';

type Compared = Pick<ArmResult, 'name' | 'comparisons'>;

function getMetricDifference({ name, comparisons }: Compared, metric: string): number {
  const comparison = comparisons?.[metric];
  if (comparison === undefined)
    throw new ValidationError(`${name} has no comparison in metric: ${metric}; measure the arms again`, { metric });
  return comparison.difference.mean;
}

/**
 * (learned - control) / (learned - baseline): how much of what training gains is gone under a null control. Above 1 where the control is below the baseline,
 * negative where it is above what was learned; null where nothing was gained, and where the exchange changes the baseline too: what is gone then is not of the gain
 * alone.
 *
 * @throws ValidationError when no arm is `learned`, or that or the control is not compared in the metric.
 */
export function computeGainShare(
  arms: readonly Compared[],
  { part, comparisons, baseline }: Pick<NullControl, 'part' | 'comparisons' | 'baseline'>,
  metric: string,
): number | null {
  const learned = arms.find(({ name }) => name === 'learned');
  if (learned === undefined)
    throw new ValidationError(`no arm is learned, only ${arms.map(({ name }) => name).join(', ')}; train again`);
  const gain = getMetricDifference(learned, metric);
  const lost = -getMetricDifference({ name: part, comparisons }, metric);
  return gain > TIE && baseline.isUnchanged ? lost / gain : null;
}

/** In per cent, `43 %`; empty without a share. */
export function formatGainShare(share: number | null): string {
  return share === null ? '' : `${formatDecimal(100 * share, 0)} %`;
}
