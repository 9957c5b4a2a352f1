import { describe, expect, test } from 'vitest';
import { DimensionMismatchError } from '../../core/errors/errors.ts';
import { TermPostings } from './bm25.ts';
import { GroupedBm25, type TurnGroups } from './grouped-bm25.ts';

const TEXTS = [
  'bread and soup',
  'soup',
  'the bread is warm bread',
  'a train',
  'soup on the train',
  'warm soup',
  'bread',
];
const tokenise = (text: string) => text.split(' ');
const PARAMETERS = { k1: 1.3, b: 0.6, variant: 'lucene' as const };

/** @param lists of the documents of each turn. */
function buildTurnGroups(lists: readonly (readonly number[])[], begins: readonly number[]): TurnGroups {
  const width = Math.max(1, ...lists.map(({ length }) => length));
  return {
    width,
    documents: Int32Array.from(lists.flatMap((list) => [...list, ...Array(width - list.length).fill(-1)])),
    begins: Int32Array.from(begins),
    listTurnsBefore: (document) =>
      [...lists.keys()].filter((turn) => turn < begins[document]! && lists[turn]?.includes(document)),
  };
}

/** A document a turn, and with the turns beside it. */
const single = buildTurnGroups(
  TEXTS.map((_, turn) => [turn]),
  TEXTS.map((_, turn) => turn),
);
const windows = buildTurnGroups(
  TEXTS.map((_, turn) => [turn - 1, turn, turn + 1].filter((other) => other >= 0 && other < TEXTS.length)),
  TEXTS.map((_, turn) => turn),
);
/** Turns 0, 3 and 4 make one, the others another. */
const sittings = buildTurnGroups([[0], [1], [1], [0], [0], [1], [1]], [0, 1]);

/** The words of each document before a cutoff, null for one that is not there yet. */
function listDocumentsAt(
  { width, documents, begins }: TurnGroups,
  cutoff: number,
  visible: readonly number[] = [...TEXTS.keys()],
): (string[] | null)[] {
  return Array.from(begins, (begin, document) => {
    if (begin >= cutoff) return null;
    return TEXTS.slice(0, cutoff).flatMap((text, turn) =>
      visible.includes(turn) && documents.subarray(turn * width, (turn + 1) * width).includes(document)
        ? tokenise(text)
        : [],
    );
  });
}

const computeIdf = (count: number, frequency: number) => Math.log(1 + (count - frequency + 0.5) / (frequency + 0.5));

/** BM25 of the texts that the documents are at the moment, as its formula is written. */
function computeGroupBm25(
  groups: TurnGroups,
  words: ReadonlyMap<string, number>,
  cutoff: number,
  visible?: readonly number[],
): number[] {
  const documents = listDocumentsAt(groups, cutoff);
  const shown = listDocumentsAt(groups, cutoff, visible);
  const there = documents.filter((document) => document !== null);
  const average = there.reduce((sum, { length }) => sum + length, 0) / there.length;
  return documents.map((document, i) => {
    if (document === null) return 0;
    let score = 0;
    for (const [word, times] of words) {
      const frequency = there.filter((other) => other.includes(word)).length;
      const tf = shown[i]?.filter((other) => other === word).length ?? 0;
      const norm = PARAMETERS.k1 * (1 - PARAMETERS.b + (PARAMETERS.b * document.length) / average);
      if (tf > 0) score += times * computeIdf(there.length, frequency) * (tf / (tf + norm));
    }
    return score;
  });
}

const QUERY = new Map([
  ['soup', 2],
  ['bread', 1],
  ['nobody', 1],
]);

describe.each([
  ['single turns', single],
  ['windows', windows],
  ['sittings', sittings],
])('of %s', (_, groups) => {
  const index = new GroupedBm25(new TermPostings(TEXTS, tokenise), groups, PARAMETERS);
  const scores = new Float64Array(groups.begins.length);

  test.each([7, 1, 5, 2, 7, 0])('scores are those of the texts as they are at cutoff %i', (cutoff) => {
    scores.fill(9);
    index.score(QUERY, cutoff, scores);
    for (const [document, expected] of computeGroupBm25(groups, QUERY, cutoff).entries())
      expect(scores[document]).toBeCloseTo(expected, 12);
  });

  test.each([
    [7, [1, 2, 3]],
    [4, [0, 1, 6]],
    [7, []],
    [7, [0, 1, 2, 3, 4, 5, 6]],
  ])(
    'at cutoff %i with turns %j visible, documents hold their words alone, by the weights of the moment',
    (cutoff, visible) => {
      const list = Int32Array.from(visible);
      const coverage = new Float64Array(groups.begins.length);
      index.scoreAndCoverage(QUERY, cutoff, scores.fill(9), coverage, list);
      for (const [document, expected] of computeGroupBm25(groups, QUERY, cutoff, visible).entries()) {
        expect(scores[document]).toBeCloseTo(expected, 12);
        expect((coverage[document] as number) > 0).toBe(expected > 0);
      }
      const alone = new Float64Array(groups.begins.length);
      index.score(QUERY, cutoff, alone, list);
      expect(alone).toEqual(scores);
      index.fillCoverage(QUERY, cutoff, alone, list);
      expect(alone).toEqual(coverage);
      index.score(QUERY, cutoff, scores); // the list affects no later search
      for (const [document, expected] of computeGroupBm25(groups, QUERY, cutoff).entries())
        expect(scores[document]).toBeCloseTo(expected, 12);
    },
  );

  test.each([7, 3])('coverage at cutoff %i is the share of the known words, by what they are worth', (cutoff) => {
    index.fillCoverage(QUERY, cutoff, scores);
    const documents = listDocumentsAt(groups, cutoff);
    const there = documents.filter((document) => document !== null);
    const weighWord = (word: string) => {
      const frequency = there.filter((other) => other.includes(word)).length;
      return frequency === 0 ? 0 : computeIdf(there.length, frequency);
    };
    const words = [...QUERY.keys()];
    const total = words.reduce((sum, word) => sum + weighWord(word), 0);
    for (const [i, document] of documents.entries()) {
      const held = words.filter((word) => document?.includes(word)).reduce((sum, word) => sum + weighWord(word), 0);
      expect(scores[i]).toBeCloseTo(held / total, 12);
    }
    // In one walk with the scores, which are then the same.
    const [both, alone] = [new Float64Array(groups.begins.length).fill(9), scores.slice()];
    index.scoreAndCoverage(QUERY, cutoff, scores, both);
    expect(both).toEqual(alone);
    for (const [document, expected] of computeGroupBm25(groups, QUERY, cutoff).entries())
      expect(scores[document]).toBeCloseTo(expected, 12);
  });
});

test('windows that turns join later have the scores of windows that had them at first', () => {
  const build = (size: number): TurnGroups =>
    buildTurnGroups(
      TEXTS.slice(0, size).map((_, turn) => [turn - 1, turn, turn + 1].filter((other) => other >= 0 && other < size)),
      [...TEXTS.keys()].slice(0, size),
    );
  let groups = build(0);
  const growing: TurnGroups = {
    get width() {
      return groups.width;
    },
    get documents() {
      return groups.documents;
    },
    get begins() {
      return groups.begins;
    },
    listTurnsBefore: (document) => groups.listTurnsBefore(document),
  };
  const postings = new TermPostings([], tokenise);
  const grown = new GroupedBm25(postings, growing, PARAMETERS);
  for (const size of [1, 2, 3, 5, 6, 7]) {
    postings.append(TEXTS.slice(postings.size, size));
    groups = build(size);
    const fresh = new GroupedBm25(new TermPostings(TEXTS.slice(0, size), tokenise), build(size), PARAMETERS);
    for (const cutoff of [size, size - 1, 0, size]) {
      const [got, expected] = [new Float64Array(size), new Float64Array(size)];
      grown.score(QUERY, cutoff, got);
      fresh.score(QUERY, cutoff, expected);
      expect(got).toEqual(expected);
    }
  }
});

test('nothing known is nothing covered', () => {
  const index = new GroupedBm25(new TermPostings(TEXTS, tokenise), single, PARAMETERS);
  const scores = new Float64Array(TEXTS.length).fill(9);
  index.fillCoverage(new Map([['nobody', 1]]), 7, scores);
  expect([...scores]).toEqual(TEXTS.map(() => 0));
});

test('groups of other turns are refused', () => {
  const postings = new TermPostings(TEXTS.slice(1), tokenise);
  expect(() => new GroupedBm25(postings, single, PARAMETERS)).toThrow(
    new DimensionMismatchError('turns of document groups', 6, 7),
  );
});
