import { UnavailableError } from '../../core/errors/errors.ts';
import { ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import type { CandidateIndex, Candidates, QueryBatch } from '../../model/candidates.ts';
import type { Corpus } from '../../model/turns/corpus.ts';
import type { IndexContext, ScorePairs } from '../candidates/index-definition.ts';
import { allocateCandidates, assertPairs, assertQueries } from '../candidates/query-batch.ts';
import { TopSelection } from '../candidates/top-selection.ts';
import type { LateOptions, LateScore } from './late-options.ts';
import type { LateScores } from './late-scores.ts';
import { LateTurns } from './late-turns.ts';

type LateScoring = Omit<LateOptions, 'index' | 'k'>;

/** Exact late interaction over the turns of a corpus as of a query's moment. A turn without a token is no candidate. */
export class LateIndex implements CandidateIndex {
  readonly name = 'late';
  readonly #turns: LateTurns;
  readonly #corpus: Corpus;
  readonly #score: LateScore;

  /** @throws UnavailableError without vectors of tokens. */
  constructor({ score, ...texts }: LateScoring, { corpus, tokens }: Pick<IndexContext, 'corpus' | 'tokens'>) {
    if (tokens === undefined)
      throw new UnavailableError(
        'index late',
        'there are no vectors of tokens; open the workspace with the input openTokens',
      );
    this.#turns = new LateTurns(corpus, tokens, texts);
    this.#corpus = corpus;
    this.#score = score;
  }

  async search(queries: QueryBatch, k: number, progress: StartProgress = ignoreProgress): Promise<Candidates> {
    assertQueries(queries, this.#corpus.size, k);
    const candidates = allocateCandidates(queries.cutoffs.length, k);
    const top = new TopSelection(k, this.#corpus.compareTies);
    const use = (query: number, scores: LateScores) => {
      const values = scores.get(this.#score);
      for (const [i, position] of scores.visible.entries())
        if (!Number.isNaN(values[i])) top.offer(position, values[i] as number);
      top.drainTo(candidates, query);
    };
    await this.#turns.score(queries, use, progress, [this.#score]);
    return candidates;
  }

  /** The scores of given pairs at each query's time, row-major [Q, width]; 0 for padding and a turn without a token. */
  readonly scorePairs: ScorePairs<Float32Array> = async (queries, positions, width, progress = ignoreProgress) => {
    assertPairs(queries, positions, width);
    const pairScores = new Float32Array(positions.length);
    const use = (query: number, scores: LateScores) => {
      const values = scores.get(this.#score);
      const places = new Map(Array.from(scores.visible, (position, i) => [position, i]));
      for (let at = query * width; at < (query + 1) * width; at++) {
        const place = places.get(positions[at] as number);
        const value = place === undefined ? Number.NaN : (values[place] as number);
        if (!Number.isNaN(value)) pairScores[at] = value;
      }
    };
    await this.#turns.score(queries, use, progress, [this.#score]);
    return pairScores;
  };

  dispose(): void {}
}

/** An index over the turns of a corpus, in time order. */
export function createLate(given: LateScoring, context: IndexContext): LateIndex {
  return new LateIndex(given, context);
}
