import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parseTables } from '../config/config-reference.harness.ts';
import { findProtocolWarnings, type Protocol } from './protocol-warnings.ts';
import { parseSystem } from './system.fixture.ts';
import { PROTOCOL_WARNINGS } from './warning.ts';

const QUERIES = ['q1', 'q2', 'q3'];
const DOCUMENTS = Array.from({ length: 23 }, (_, i) => `d${i}`);

/** Three documents a query with two relevant ones, falling scores, no ties: nothing to warn of. */
function writeRun(tag: string, shift: number): string[] {
  return QUERIES.flatMap((query) =>
    [0, 1, 2].map((rank) => `${query} Q0 d${(rank + shift) % 5} ${rank + 1} ${9 - rank} ${tag}`),
  );
}

const qrels = new Map(
  QUERIES.map((id) => [
    id,
    new Map([
      ['d0', 1],
      ['d3', 1],
      ['d4', 0],
    ]),
  ]),
); // prettier-ignore

interface Planted {
  readonly left?: readonly string[];
  readonly right?: readonly string[];
  readonly qrels?: Protocol['qrels'];
  readonly metrics?: readonly string[];
  readonly documents?: Protocol['documents'];
  readonly strata?: ReadonlyMap<string, string>;
}

function plant({ left, right, ...others }: Planted): Protocol {
  const build = (name: string, lines: readonly string[]) => parseSystem(name, `${name}.trec`, lines);
  return {
    systems: [build('left', left ?? writeRun('left', 0)), build('right', right ?? writeRun('right', 2))],
    qrels,
    metrics: ['recall@3', 'ndcg@3'],
    relevantGrade: 1,
    documents: new Set(DOCUMENTS),
    ...others,
  };
}

const findCodes = (planted: Planted) => findProtocolWarnings(plant(planted)).map(({ code }) => code);
const left = writeRun('left', 0);

const PLANTED: readonly (readonly [keyof typeof PROTOCOL_WARNINGS, Planted, RegExp])[] = [
  ['score-not-finite', { left: [...left, 'q1 Q0 d9 4 NaN left'] }, /^left: 1 lines .*\(left\.trec:10\)/],
  ['repeated-document', { left: [...left, 'q1 Q0 d0 4 1 left'] }, /d0 at left\.trec:10/],
  [
    'scores-ascend',
    { left: left.map((line) => line.replace(/ (\d) (\d) left/, (_, rank) => ` ${rank} ${rank} left`)) },
    /3 of 3 queries have scores that rise/,
  ],
  ['rank-disagrees-with-score', { left: left.with(1, 'q1 Q0 d1 2 99 left') }, /1 of 3 queries .*\(q1\)/],
  ['ties-out-of-order', { left: left.with(1, 'q1 Q0 d1 2 9 left') }, /1 of 3 queries order equal scores .*\(q1\)/],
  ['several-tags', { left: left.with(1, 'q1 Q0 d1 2 8 other') }, /2 run tags \(left, other\)/],
  ['shared-tag', { right: writeRun('left', 2) }, /2 files have the run tag left \(left\.trec, right\.trec\)/],
  ['equal-rankings', { right: writeRun('right', 0) }, /^right: ranks the same documents .* as left/],
  ['unequal-depths', { left: [...left, 'q1 Q0 d9 4 1 left'] }, /\(left 4, right 3\)/],
  ['recall-is-hit-rate', { qrels: new Map(QUERIES.map((id) => [id, new Map([['d0', 1]])])) }, /recall@3 is a hit rate/],
  ['unknown-documents', { left: left.with(1, 'q1 Q0 x1 2 8 left') }, /1 of its 4 documents .*\(x1\)/],
  ['missing-queries', { left: left.slice(3) }, /1 of 3 judged queries have no ranking and count 0 \(q1\)/],
  ['unjudged-queries', { left: [...left, 'q9 Q0 d1 1 3 left'] }, /1 queries have no judgements .*\(q9\)/],
  ['unanswerable-queries', { qrels: new Map([...qrels, ['q3', new Map([['d0', 0]])]]) }, /1 of 3 .*\(q3\)/],
  [
    'small-stratum',
    { strata: new Map([['q2', 'exact']]) },
    /^stratum exact has 1 queries, fewer than 50; add 49 queries/,
  ],
  [
    'query-as-document',
    { left: left.with(1, 'q1 Q0 q1 2 8 left'), documents: new Set([...DOCUMENTS, ...QUERIES]) },
    /^left: 1 queries are among their own ranked documents \(q1\)/,
  ],
];

describe('protocol warnings', () => {
  test('a comparison without errors has none', () => {
    expect(findCodes({})).toEqual([]);
  });

  test.each(PLANTED)('%s is found, and nothing else', (code, planted, message) => {
    const found = findProtocolWarnings(plant(planted));
    expect(found.map((warning) => warning.code)).toEqual([code]);
    expect(found[0]?.message).toMatch(message);
    expect(found[0]?.message).not.toMatch(/\.$/);
  });

  test('a cut-off below which nothing is ranked, and one that covers the collection', () => {
    expect(findCodes({ metrics: ['ndcg@4'] })).toEqual(['cutoff-beyond-depth', 'cutoff-beyond-depth']);
    expect(findCodes({ metrics: ['ndcg@23'] })).toEqual([
      'cutoff-beyond-depth',
      'cutoff-beyond-depth',
      'cutoff-covers-collection',
    ]);
    // Without a collection the files name five documents, and ranks as deep as that cover them.
    expect(findCodes({ documents: null, metrics: ['ndcg@5'] })).toContain('cutoff-covers-collection');
    expect(findCodes({ documents: null, metrics: ['ndcg@4'] })).not.toContain('cutoff-covers-collection');
  });

  test('without a collection a run is unknown only as a whole', () => {
    const strange = left.map((line) => line.replace(/ d/, ' x'));
    expect(findCodes({ left: strange, documents: null })).toEqual(['unknown-documents']);
    expect(findCodes({ left: left.with(1, 'q1 Q0 x1 2 8 left'), documents: null })).toEqual([]);
  });

  describe('errors that are planted together', () => {
    const ids = ['q1', 'q2', 'q3', 'q4', 'q5', 'q6'];
    const write = (tag: string, shift: number) =>
      ids.flatMap((query) =>
        [0, 1, 2].map((rank) => `${query} Q0 d${(rank + shift) % 5} ${rank + 1} ${9 - rank} ${tag}`),
      );
    /** A comparison that faults are planted in, each at a place of its own. */
    const draw = () => ({
      left: write('left', 0),
      right: write('right', 2),
      qrels: new Map(ids.map((id) => [id, new Map(Object.entries({ d0: 1, d3: 1 }))])),
      metrics: ['recall@3'],
      documents: new Set([...DOCUMENTS, ...ids]),
    });
    type Comparison = ReturnType<typeof draw>;
    const replace = (lines: string[], start: string, line: string) => {
      lines[lines.findIndex((other) => other.startsWith(start))] = line;
    };
    const FAULTS: Readonly<Record<string, (comparison: Comparison) => void>> = {
      'score-not-finite': ({ left }) => left.push('q1 Q0 d9 4 nan left'),
      'repeated-document': ({ left }) => left.push('q2 Q0 d0 4 1 left'),
      'rank-disagrees-with-score': ({ left }) => replace(left, 'q3 Q0 d1', 'q3 Q0 d1 2 99 left'),
      'ties-out-of-order': ({ left }) => replace(left, 'q4 Q0 d1', 'q4 Q0 d1 2 9 left'),
      'scores-ascend': ({ right }) => {
        for (const [rank, doc] of ['d2', 'd3', 'd4'].entries())
          replace(right, `q5 Q0 ${doc}`, `q5 Q0 ${doc} ${rank + 1} ${rank} right`);
      },
      'several-tags': ({ left }) => replace(left, 'q6 Q0 d1', 'q6 Q0 d1 2 8 other'),
      'unequal-depths': ({ right }) => right.push('q1 Q0 d9 4 1 right'),
      'cutoff-beyond-depth': ({ metrics }) => metrics.push('ndcg@5'),
      'unknown-documents': ({ right }) => replace(right, 'q2 Q0 d3', 'q2 Q0 x1 2 8 right'),
      'missing-queries': ({ right }) =>
        right.splice(
          right.findIndex((line) => line.startsWith('q6 ')),
          3,
        ),
      'unjudged-queries': ({ left }) => left.push('q9 Q0 d1 1 3 left'),
      'unanswerable-queries': ({ qrels }) => qrels.set('q5', new Map([['d0', 0]])),
      'query-as-document': ({ left }) => replace(left, 'q1 Q0 d2', 'q1 Q0 q1 3 7 left'),
      'shared-tag': ({ right }) => {
        for (const [i, line] of right.entries()) right[i] = line.replace(/right$/, 'left');
      },
    };
    const listCodes = (names: readonly string[]) => {
      const comparison = draw();
      for (const name of names) FAULTS[name]?.(comparison);
      return [...new Set(findCodes(comparison))].sort();
    };
    const all = Object.keys(FAULTS);

    test('are as many warnings, at least twelve', () => {
      expect(listCodes([])).toEqual([]);
      expect(all.length).toBeGreaterThanOrEqual(12);
      expect(listCodes(all)).toEqual([...all].sort());
    });

    test.each(all)('without %s there is no warning of it, and of all others', (name) => {
      const others = all.filter((other) => other !== name);
      expect(listCodes(others)).toEqual([...others].sort());
    });
  });

  test('tags that several files share are one warning, also of files with a tag a line', { timeout: 20_000 }, () => {
    const [first, second] = plant({}).systems as [Protocol['systems'][0], Protocol['systems'][0]];
    const listTags = (letter: string) => Array.from({ length: 100_000 }, (_, i) => `${letter}${i}`);
    const warn = (...tags: (readonly string[])[]) =>
      findProtocolWarnings({
        ...plant({}),
        systems: [first, second].map((system, i) => ({ ...system, tags: tags[i] ?? [] })),
      });
    expect(warn(listTags('a'), listTags('b'))).toEqual([]);
    expect(warn(listTags('a'), listTags('a')).map(({ message }) => message)).toEqual([
      '2 files have the run tags a0, a1, a2, … (left.trec, right.trec); give each system a tag of its own',
    ]);
  });

  test('the size of a stratum is that of its queries that count', () => {
    const ids = Array.from({ length: 50 }, (_, i) => `q${i}`);
    const answered = (id: string) => [id, new Map([[id === 'q7' ? 'd4' : 'd0', id === 'q7' ? 0 : 1]])] as const;
    const strata = new Map(ids.map((id) => [id, 'exact']));
    const warn = (count: number) =>
      findProtocolWarnings({ ...plant({}), strata, qrels: new Map(ids.slice(0, count).map(answered)) })
        .filter(({ code }) => code === 'small-stratum')
        .map(({ message }) => message.split(',')[0]);
    expect(warn(50)).toEqual(['stratum exact has 49 queries']); // q7 has no relevant document
    expect(warn(7)).toEqual(['stratum exact has 7 queries']);
  });

  test('docs list every kind with its meaning, and no other', () => {
    const page = readFileSync(new URL('../../../docs/score.md', import.meta.url), 'utf8');
    const table = parseTables(page).find(([header]) => header?.[0] === 'warning') ?? [];
    expect(table.slice(2)).toEqual(
      Object.entries(PROTOCOL_WARNINGS).map(([code, meaning]) => [`\`${code}\``, meaning]),
    );
  });

  test('every kind that a run file can show is planted', () => {
    const planted = [...PLANTED.map(([code]) => code), 'cutoff-beyond-depth', 'cutoff-covers-collection'];
    const elsewhere = [
      'reported-recall-is-hit-rate',
      'later-documents',
      'unknown-turns',
      'tied-end',
      'unreachable-list',
      'unknown-attribute',
    ];
    expect([...planted, ...elsewhere].sort()).toEqual(Object.keys(PROTOCOL_WARNINGS).sort());
  });
});
