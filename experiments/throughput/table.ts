import { formatPipeTable } from '../text-table.ts';

export interface ArmThroughput {
  readonly arm: string;
  /** Queries, by batch size. */
  readonly perSecond: readonly number[];
}

/** A row an arm, a column a batch size; in brackets times as many as with the first size. */
export function formatThroughputTable(batchSizes: readonly number[], arms: readonly ArmThroughput[]): string {
  return formatPipeTable({
    head: ['arm', ...batchSizes.map((size) => `B = ${size}`)],
    rows: arms.map(({ arm, perSecond }) => [
      arm,
      ...perSecond.map((value) => `${value.toFixed(0)} (${(value / (perSecond[0] as number)).toFixed(1)}x)`),
    ]),
  });
}
