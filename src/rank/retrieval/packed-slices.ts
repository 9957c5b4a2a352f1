import type { SliceExport } from '../../kernel/signatures/slice-export.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import { compareBytes } from '../../model/turns/tie-rule.ts';

/** A query that the policy refuses, since it has no anchor. */
export type SliceRefusal = Pick<SliceExport, 'policyRef' | 'scope' | 'issuedAt'> & { readonly refused: 'no-anchor' };

/** A slice without its ids, or why there is none. */
export type SliceAnswer = Omit<SliceExport, 'turnIds'> | SliceRefusal;

/** The answers of a kernel to Q queries. */
export type SignedSlices = {
  /** [Q + 1] where the turns of each query begin in `positions`. */
  readonly starts: Int32Array;
  /** Corpus positions, ascending within a query. */
  readonly positions: Int32Array;
  /** [Q] */
  readonly answers: readonly SliceAnswer[];
};
export function isRefusal(answer: SliceAnswer): answer is SliceRefusal {
  return 'refused' in answer;
}

/** [Q] the positions of each query's slice, ascending: views. */
export function listSlicePositions({ starts, positions, answers }: SignedSlices): Int32Array[] {
  return answers.map((_, query) => positions.subarray(starts[query], starts[query + 1]));
}

/** [Q] the slices as they were signed; a refusal is itself. */
export function restoreSlices(signed: SignedSlices, { turns }: Pick<Corpus, 'turns'>): (SliceExport | SliceRefusal)[] {
  return listSlicePositions(signed).map((positions, query) => {
    const answer = signed.answers[query] as SliceAnswer;
    if (isRefusal(answer)) return answer;
    return {
      ...answer,
      turnIds: Array.from(positions, (position) => turns[position]?.id as string).sort(compareBytes),
    };
  });
}
/** @param lists [Q] ascending positions. */
export function joinLists(lists: readonly ArrayLike<number>[], answers: readonly SliceAnswer[]): SignedSlices {
  const starts = new Int32Array(lists.length + 1);
  for (const [query, { length }] of lists.entries()) starts[query + 1] = (starts[query] as number) + length;
  const positions = new Int32Array(starts.at(-1) as number);
  for (const [query, list] of lists.entries()) positions.set(list, starts[query]);
  return { starts, positions, answers };
}

/** Slices as arrays of positions. */
export function packSlices(slices: readonly (SliceExport | SliceRefusal)[], corpus: Corpus): SignedSlices {
  const findPosition = (id: string) => corpus.getPosition(id);
  const lists = slices.map((slice) =>
    'refused' in slice ? [] : slice.turnIds.map(findPosition).sort((a, b) => a - b),
  );
  const answers = slices.map((slice): SliceAnswer => {
    if ('refused' in slice) return slice;
    const { turnIds: _, ...answer } = slice;
    return answer;
  });
  return joinLists(lists, answers);
}
