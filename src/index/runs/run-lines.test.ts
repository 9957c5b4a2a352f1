import { describe, expect, test } from 'vitest';
import { createTextSource } from '../../core/files/text-lines.ts';
import { type RunLine, visitRunLines } from './run-lines.ts';

function parseRunLines(text: string, source: string): RunLine[] {
  const lines: RunLine[] = [];
  visitRunLines(createTextSource(text), source, (line) => lines.push(line));
  return lines;
}

const pick = (text: string) =>
  parseRunLines(text, 'my.run').map(({ at, queryId, id, rank, score }) => [at, queryId, id, rank, score]);

describe('run lines', () => {
  test('of TREC keep the rank, the score and the tag as written', () => {
    const text = 'q1 Q0 d7 1 2.5 mine\n\nq1 Q0 d3 2 nan mine\nq2 Q0 d7 1 -Inf mine\n';
    expect(pick(text)).toEqual([
      ['my.run:1', 'q1', 'd7', 1, 2.5],
      ['my.run:3', 'q1', 'd3', 2, Number.NaN],
      ['my.run:4', 'q2', 'd7', 1, Number.NaN],
    ]);
    expect(parseRunLines(text, 'my.run').map(({ tag }) => tag)).toEqual(['mine', 'mine', 'mine']);
  });

  test('of JSONL are documents or whole rankings, whose order counts where scores are missing', () => {
    const text = [
      '\ufeff{"query": "q1", "id": "d7", "score": 2.5, "rank": 1, "extra": true}',
      '{"query": 2, "id": 3, "score": null}',
      '{"query": "q3", "ranking": ["d1", {"id": "d2"}]}',
      '{"query": "q3", "ranking": [{"id": "d3", "score": 0.25}, {"id": "d4", "score": null}]}',
    ].join('\n');
    expect(pick(text)).toEqual([
      ['my.run:1', 'q1', 'd7', 1, 2.5],
      ['my.run:2', '2', '3', null, Number.NaN],
      ['my.run:3', 'q3', 'd1', 1, -1],
      ['my.run:3', 'q3', 'd2', 2, -2],
      ['my.run:4', 'q3', 'd3', 1, 0.25],
      ['my.run:4', 'q3', 'd4', 2, Number.NaN],
    ]);
  });

  test.each([
    ['q1 Q0 d7 1 2.5', 'expected 6 columns at my.run:1, got 5'],
    ['q1 Q0 d7 1 high mine', 'score at my.run:1 is not a number: "high"; correct the line'],
    [
      '{"query": "q1", "ranking": ["d7", {"id": "d3", "score": 0.2}]}', // d3 would rank first
      '1 of 2 documents of the ranking at my.run:1 have a score; give every document a score, or none',
    ],
    ['{"query": "q1"}', 'no line of a run at my.run:1; write {"query": "q1", "id": "d7", "score": 0.5}'],
    ['{"query": "q1", "id": "d7", "score": 1}\n{', 'no line of a run at my.run:2; '],
  ])('%j is refused, naming the line', (text, message) => {
    expect(() => parseRunLines(text, 'my.run')).toThrow(message);
  });
});
