import { createRandom } from '../../src/core/numbers/random.ts';
import { buildDayCorpus } from '../conservation-drift/corpus.fixture.ts';
import { buildMeasuredCorpus, type MeasuredCorpus } from './measured-corpus.ts';

/** Messages of each thread, in corpus order of their first. */
const LENGTHS = [5, 1, 13, 2, 3];
/** D */
export const WIDTH = 7;

/** Threads whose messages come in turns, a message a day, with random vectors. */
export function buildHandmadeMeasured(): MeasuredCorpus {
  const source = createRandom(3, 'findings.test');
  const rounds = Array.from({ length: Math.max(...LENGTHS) }, (_, round) =>
    LENGTHS.flatMap((length, thread) => (round < length ? [`c${thread}`] : [])),
  );
  const corpus = buildDayCorpus(rounds.flat().map((thread, day) => [thread, day] as const));
  const embeddings = Float32Array.from({ length: corpus.size * WIDTH }, () => source.drawNormal());
  return buildMeasuredCorpus(corpus, embeddings, WIDTH);
}

/** Rows of a matrix as arrays. */
export function splitMatrixRows(matrix: Float32Array, width: number): number[][] {
  return Array.from({ length: matrix.length / width }, (_, i) => [...matrix.subarray(i * width, (i + 1) * width)]);
}

interface Choice {
  readonly combine: 'multiplicative' | 'additive';
  readonly self: 'include' | 'exclude';
  readonly looks: 'both ways' | 'back' | 'ahead';
  readonly decay: number;
  readonly temperature: number;
}

export const PUBLISHED: Choice = {
  combine: 'multiplicative',
  self: 'include',
  looks: 'both ways',
  decay: 0.5,
  temperature: 0.1,
};

export function computeHandmadeCosine(a: readonly number[], b: readonly number[]): number {
  const dot = a.reduce((sum, value, d) => sum + value * (b[d] as number), 0);
  return dot / Math.hypot(...a) / Math.hypot(...b);
}

/** e to the logit of each pair of rows on a ring, 0 if a key may not be seen: the definition, in float64. */
export function computeHandmadePowers(rows: readonly number[][], choice: Partial<Choice> = {}): number[][] {
  const { combine, self, looks, decay, temperature } = { ...PUBLISHED, ...choice };
  return rows.map((query, i) =>
    rows.map((key, j) => {
      if ((self === 'exclude' && i === j) || (looks === 'back' && j > i) || (looks === 'ahead' && j < i)) return 0;
      const distance = Math.min(Math.abs(i - j), rows.length - Math.abs(i - j));
      const semantic = (1 + computeHandmadeCosine(query, key)) / 2 / temperature;
      return Math.exp(
        combine === 'multiplicative' ? semantic * Math.exp(-decay * distance) : semantic - decay * distance,
      );
    }),
  );
}

/** The powers of a row as shares of their sum; zeros stay. */
export function computeHandmadeWeights(rows: readonly number[][], choice: Partial<Choice> = {}): number[][] {
  return computeHandmadePowers(rows, choice).map((powers) => {
    const sum = powers.reduce((a, b) => a + b, 0);
    return powers.map((power) => (sum === 0 ? 0 : power / sum));
  });
}
