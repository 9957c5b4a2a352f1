import type { Clusters } from '../../eval/intervals/clusters.ts';
import { computePairedDifferences } from '../../eval/significance/paired-differences.ts';
import {
  type BaselineComparison,
  type ComparisonOptions,
  compareWithBaseline,
} from '../../eval/significance/significance.ts';
import type { ArmControl } from '../config/control-arms.ts';
import type { Structure, StructureTest } from './result.ts';

/** An arm as its controls are compared with it; by metric. */
export interface StructuredArm {
  readonly name: string;
  /** Of a null control. */
  readonly control: ArmControl | null;
  readonly perQuery: Readonly<Record<string, readonly number[]>>;
  /** With the baseline; null for the baseline itself. */
  readonly comparisons: Readonly<Record<string, BaselineComparison>> | null;
}

function isBetter(arm: StructuredArm, metric: string): boolean {
  return arm.comparisons?.[metric]?.verdict === 'better';
}

function testStructure(
  arm: StructuredArm,
  controls: readonly StructuredArm[],
  metric: string,
  clusters: Clusters,
  options: ComparisonOptions,
): StructureTest {
  const readArmValues = (of: StructuredArm) => of.perQuery[metric] as readonly number[];
  const differences = controls.map((control) => computePairedDifferences(readArmValues(arm), readArmValues(control)));
  const nothing = new Float64Array(readArmValues(arm).length);
  const compared = compareWithBaseline(differences, nothing, clusters, options);
  const kinds = controls.map(({ control }) => (control as ArmControl).kind);
  const survives = kinds.filter((_, i) => {
    const [control, comparison] = [controls[i] as StructuredArm, compared[i] as BaselineComparison];
    return isBetter(arm, metric) && isBetter(control, metric) && comparison.verdict !== 'better';
  });
  return { survives, controls: Object.fromEntries(kinds.map((kind, i) => [kind, compared[i] as BaselineComparison])) };
}

/**
 * The part of an arm's gain due to the structure that its null controls destroy. The arm is compared with each control, corrected over the controls. Its gain **survives**
 * a control, so that it is not due to the structure that the control destroys, if three things hold: the arm is better than the baseline, corrected over the arms; the control is
 * better than the baseline, corrected over all controls of the experiment; and the arm is not better than the control.
 *
 * @param arms its controls are among them.
 * @returns null for an arm without controls, as the controls themselves are.
 */
export function measureStructure(
  arm: StructuredArm,
  arms: readonly StructuredArm[],
  metrics: readonly string[],
  clusters: Clusters,
  options: ComparisonOptions,
): Structure | null {
  const controls = arms.filter(({ control }) => control?.of === arm.name);
  if (controls.length === 0) return null;
  const tests = metrics.map((metric) => [metric, testStructure(arm, controls, metric, clusters, options)] as const);
  const kinds = controls.map(({ control }) => (control as ArmControl).kind);
  const survives = kinds.filter((kind) => tests.some(([, test]) => test.survives.includes(kind)));
  return { survives, metrics: Object.fromEntries(tests) };
}
