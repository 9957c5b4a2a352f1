import { ValidationError } from '../../core/errors/errors.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';
import type { FeatureTable } from '../../rank/learning/feature-table.ts';
import type { ArmResult, ExperimentResult } from '../measure/result.ts';

/** Components that are made of others, and so are no signals. */
const COMPOSED: readonly string[] = ['relevance', 'scoring', 'before selection'];

/**
 * The components of an arm's scores as signals for `rag-plusplus/learning`: a row for each measured query, its candidates those that `evaluation.inspect` keeps.
 *
 * @throws ValidationError for an arm without a component that is a signal.
 */
export function buildArmFeatures(result: ExperimentResult, arm: ArmResult): FeatureTable {
  const { queries } = result;
  const { relevantGrade } = result.dataset;
  const places = arm.componentNames.flatMap((name, place) => (COMPOSED.includes(name) ? [] : [place]));
  if (places.length === 0)
    throw new ValidationError(`arm has no signals to learn from: ${arm.name}; name one with relevance signals`);
  const width = Math.max(1, ...arm.rankings.map((ranking) => ranking.length));
  const pairs = queries.length * width;
  const [F, values, mask] = [places.length, new Float32Array(pairs * places.length), new Uint8Array(pairs)];
  const grades = new Float32Array(pairs);
  const missed: number[][] = [];
  for (const [q, { judgements }] of queries.entries()) {
    // Candidates are in the order that the tie rule gives equal scores: id descending.
    const ranked = [...(arm.rankings[q] ?? [])].sort((a, b) => compareBytes(b.id, a.id));
    for (const [c, { id, components }] of ranked.entries()) {
      const pair = q * width + c;
      mask[pair] = 1;
      grades[pair] = judgements[id] ?? 0;
      for (const [f, place] of places.entries()) values[pair * F + f] = components[place] as number;
    }
    const found = new Set(ranked.map(({ id }) => id));
    missed.push(
      Object.entries(judgements).flatMap(([id, grade]) => (grade >= relevantGrade && !found.has(id) ? [grade] : [])),
    );
  }
  return {
    signals: places.map((place) => arm.componentNames[place] as string),
    queryIds: queries.map(({ id }) => id),
    clusters: queries.map(({ cluster }) => cluster),
    width,
    values,
    mask,
    grades,
    missed: Int32Array.from(missed, (list) => list.length),
    missedGrades: Float32Array.from(missed.flat()),
    relevantGrade,
  };
}
