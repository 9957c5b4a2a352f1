import { formatPipeTable } from '../text-table.ts';
import { PARTS, type Part } from './parts.ts';

export interface CorpusMemory {
  readonly name: string;
  /** N. */
  readonly turns: number;
  /** D. */
  readonly dimension: number;
  readonly bytes: Readonly<Record<Part, number>>;
}

/** A row a part and one for all, two columns a corpus: bytes a turn, and the share of the whole. */
export function formatMemoryTable(corpora: readonly CorpusMemory[]): string {
  const totals = corpora.map(({ bytes }) => PARTS.reduce((sum, part) => sum + bytes[part], 0));
  const listMemoryCells = (bytesOf: (corpus: CorpusMemory, at: number) => number) =>
    corpora.flatMap((corpus, at) => {
      const bytes = bytesOf(corpus, at);
      return [(bytes / corpus.turns).toFixed(0), `${((100 * bytes) / (totals[at] as number)).toFixed(1)} %`];
    });
  return formatPipeTable({
    head: ['part', ...corpora.flatMap(({ name, turns, dimension }) => [`${name}, ${turns} x ${dimension}`, 'share'])],
    rows: [
      ...PARTS.map((part) => [part, ...listMemoryCells(({ bytes }) => bytes[part])]),
      ['all', ...listMemoryCells((_, at) => totals[at] as number)],
    ],
  });
}
