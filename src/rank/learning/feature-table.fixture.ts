import { createRandom } from '../../core/numbers/random.ts';
import type { FeatureTable } from './feature-table.ts';

interface HandmadeOptions {
  readonly queries: number;
  readonly candidates: number;
  readonly clusters: number;
  readonly signals: readonly string[];
  /** What a candidate's relevance is drawn by: the most attractive of a row are relevant. Absent: by lot. */
  readonly weights?: readonly number[];
  /** Deviation of what attracts beside the signals. */
  readonly noise?: number;
  readonly seed: number;
}

/** Powers of 10 that signals are scaled by, in turn; larger ones overflow float32. */
const SCALES = 20;

/** A table of normal signals, each on its own scale, in which the two most attractive candidates of a row are relevant, the first with grade 2. */
export function drawHandmadeTable(options: HandmadeOptions): FeatureTable {
  const { queries, candidates, clusters, signals, weights, noise = 0, seed } = options;
  const stream = createRandom(seed, 'handmade table');
  const pairs = queries * candidates;
  const width = signals.length;
  const drawn = new Float64Array(pairs * width);
  for (let i = 0; i < drawn.length; i++) drawn[i] = stream.drawNormal();
  const attraction = new Float64Array(pairs);
  for (let pair = 0; pair < pairs; pair++) {
    let pull = (weights === undefined ? 1 : noise) * stream.drawNormal();
    for (let f = 0; f < (weights?.length ?? 0); f++) pull += weights![f]! * drawn[pair * width + f]!;
    attraction[pair] = pull;
  }
  const grades = new Float32Array(pairs);
  for (let query = 0; query < queries; query++) {
    const row = Array.from({ length: candidates }, (_, place) => query * candidates + place);
    const [best, second] = row.sort((a, b) => attraction[b]! - attraction[a]!);
    grades[best as number] = 2;
    grades[second as number] = 1;
  }
  const values = new Float32Array(drawn.length);
  for (let i = 0; i < drawn.length; i++) values[i] = (3 + drawn[i]!) * 10 ** (((i % width) % SCALES) - 1);
  return {
    signals,
    queryIds: Array.from({ length: queries }, (_, query) => `q${query}`),
    clusters: Array.from({ length: queries }, (_, query) => `c${query % clusters}`),
    width: candidates,
    values,
    mask: new Uint8Array(pairs).fill(1),
    grades,
    missed: new Int32Array(queries),
    missedGrades: new Float32Array(0),
    relevantGrade: 1,
  };
}
