import { writeAtomic } from '../../core/files/files.ts';
import { printOut } from '../../core/terminal/terminal.ts';
import { formatPool, type PoolLine, readPool } from '../../lab/judging/judgement-file.ts';
import { sampleByStratum } from '../../lab/judging/pool.ts';
import { assertNewFile } from './judge/judgement-files.ts';

interface SampleFlags {
  readonly into: string;
  readonly share: number;
  readonly seed: number;
}

const NO_STRATUM = 'none';

function countByStratum(lines: readonly PoolLine[]): string {
  const counts = new Map<string, number>();
  for (const { stratum } of lines) counts.set(stratum ?? NO_STRATUM, (counts.get(stratum ?? NO_STRATUM) ?? 0) + 1);
  return Array.from(counts, ([stratum, count]) => `${stratum} ${count}`)
    .sort()
    .join(', ');
}

export function runJudgeSample(pool: string, { into, share, seed }: SampleFlags): void {
  assertNewFile(into);
  const lines = readPool(pool);
  const drawn = sampleByStratum(lines, {
    share,
    seed,
    getStratum: ({ stratum, grade }) => JSON.stringify([stratum, grade]),
    getKey: ({ queryId, id }) => [queryId, id],
  });
  // the person who checks a judge does not see its grades
  writeAtomic(into, formatPool(drawn.map((line) => ({ ...line, grade: null, judge: null }))));
  printOut(`${into}: ${drawn.length} of ${lines.length} pairs (${countByStratum(drawn)})\n`);
}
