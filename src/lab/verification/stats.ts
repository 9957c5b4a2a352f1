import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { parse } from '../../core/validation/validation.ts';
import { cohenKappa } from '../../eval/agreement/cohen-kappa.ts';
import { buildSingletonClusters } from '../../eval/intervals/mean-intervals.ts';
import { benjaminiHochberg, bonferroni, holm } from '../../eval/significance/multiple-comparisons.ts';
import { cohenD, computePairedDifferences } from '../../eval/significance/paired-differences.ts';
import { signFlipPermutation } from '../../eval/significance/sign-flip-permutation.ts';
import { pairedTTest } from '../../eval/significance/student-t-test.ts';
import { wilcoxonSignedRank } from '../../eval/significance/wilcoxon-signed-rank.ts';
import { type GoldenCase, HOST, type Part, type Topic } from './topic.ts';

const pairsCase = z.looseObject({ a: z.array(z.number()), b: z.array(z.number()) });
const pValuesCase = z.looseObject({ p: z.array(z.number()) });

/** A statistic by its golden name, from the case's inputs. */
type Statistic = (golden: GoldenCase) => unknown;

/** b minus a. */
function computeGoldenDifferences(golden: GoldenCase): Float64Array {
  const { a, b } = parse(pairsCase, golden, golden.name);
  return computePairedDifferences(b, a);
}

function readPValues(golden: GoldenCase): number[] {
  return parse(pValuesCase, golden, golden.name).p;
}

function computeExactP(golden: GoldenCase): unknown {
  const differences = computeGoldenDifferences(golden);
  const [test] = signFlipPermutation([differences], buildSingletonClusters(differences.length), { seed: 0 });
  if (test?.exact !== true)
    throw new ValidationError(
      `too many differences for an exact permutation test: ${differences.length}; shorten the case`,
    );
  return { p: test.p };
}

const STATISTICS: Readonly<Record<string, Statistic>> = {
  meanDifference: (golden) => pairedTTest(computeGoldenDifferences(golden)).meanDifference,
  tInterval95: (golden) => pairedTTest(computeGoldenDifferences(golden), 0.95).interval,
  cohenD: (golden) => cohenD(computeGoldenDifferences(golden)),
  signFlipPermutationExact: computeExactP,
  tTest: (golden) => {
    const { t, p } = pairedTTest(computeGoldenDifferences(golden));
    return { t, p };
  },
  wilcoxonNormalApproximation: (golden) => {
    const { w, p } = wilcoxonSignedRank(computeGoldenDifferences(golden), 'normal', 0); // scipy compares every bit
    return { w, p };
  },
  holm: (golden) => holm(readPValues(golden)),
  benjaminiHochberg: (golden) => benjaminiHochberg(readPValues(golden)),
  bonferroni: (golden) => bonferroni(readPValues(golden)),
  kappa: (golden) => {
    const { a, b } = parse(pairsCase, golden, golden.name);
    return cohenKappa(a, b);
  },
};

export const stats: Topic = {
  name: 'stats',
  compute(golden: GoldenCase): readonly Part[] {
    const expected = parse(z.record(z.string(), z.unknown()), golden.expected, `${golden.name}.expected`);
    return Object.entries(expected).map(([at, value]) => {
      const statistic = STATISTICS[at];
      if (statistic === undefined)
        throw new ValidationError(`unknown statistic: ${at}; use one of ${Object.keys(STATISTICS).join(', ')}`);
      return { at, expected: value, got: statistic(golden), tolerance: HOST };
    });
  },
};
