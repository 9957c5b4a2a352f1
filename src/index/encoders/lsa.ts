import { ValidationError } from '../../core/errors/errors.ts';
import { randomisedSvd } from '../../core/linear/randomised-svd.ts';
import { multiplySparseByDense } from '../../core/linear/sparse-matrix.ts';
import { createEventBreaks, ignoreProgress, type StartProgress } from '../../core/terminal/progress.ts';
import type { Encoder } from '../../model/encoder.ts';
import { createTokeniser, type Tokeniser } from '../../model/text/tokens.ts';
import { type CreateEncoder, scaleRowsToUnit } from './encoder-definition.ts';
import { type LsaEncoderOptions, type LsaOptions, lsaIdentity } from './encoder-options.ts';
import { fitVocabulary, type Vocabulary, weighTerms } from './tf-idf.ts';

/** Texts folded in at once, some milliseconds' work. */
const FOLDED_TEXTS = 32;

/** A fitted encoder, with remarks on the fit. */
export interface FittedLsa extends Encoder {
  readonly remarks: readonly string[];
}

/**
 * Latent semantic analysis: TF-IDF rows projected on the leading right singular vectors of the fitted texts, scaled to length 1. A text is folded in by the same
 * projection whether it was fitted on or not. Other texts do not affect the space.
 *
 * Deerwester, Dumais, Furnas, Landauer, Harshman 1990, "Indexing by latent semantic analysis".
 *
 * If the texts span fewer directions than requested, the dimension is smaller; the identity and a remark report it.
 *
 * @throws ValidationError when the texts share no term; ConvergenceError as {@link randomisedSvd}.
 */
export async function fitLsa(
  texts: readonly string[],
  options: LsaOptions,
  progress: StartProgress = ignoreProgress,
): Promise<FittedLsa> {
  if (texts.length === 0)
    throw new ValidationError('lsa: no term occurs, since it has no texts to be fitted on: 0 given; pass fitTexts', {
      texts: 0,
    });
  const tokenise = createTokeniser(options);
  const tokenLists = await tokeniseTexts(texts, tokenise);
  const vocabulary = fitVocabulary(tokenLists, options);
  if (vocabulary.indexOf.size === 0) {
    throw new ValidationError(
      `lsa: no term occurs in at least ${options.minDocumentFrequency} texts and at most ${Number((options.maxDocumentShare * 100).toPrecision(6))} % of them (${texts.length} given); lower minDocumentFrequency or raise maxDocumentShare`,
      { texts: texts.length },
    );
  }
  const svd = await randomisedSvd(
    weighTerms(tokenLists, vocabulary),
    { ...options, rank: options.dimension },
    progress,
  );
  return createLsaEncoder({ ...lsaIdentity(texts, options), dimension: svd.rank }, svd.right, vocabulary, tokenise, [
    ...(svd.rank < options.dimension
      ? [
          `lsa has ${svd.rank} dimensions: ${texts.length} texts with ${vocabulary.indexOf.size} terms do not span ${options.dimension}`,
        ]
      : []),
  ]);
}

export const createLsa: CreateEncoder<LsaEncoderOptions> = (
  { encoder: _, ...settings },
  { fitTexts, seed },
  progress,
) => fitLsa(fitTexts, { ...settings, seed }, progress);

async function tokeniseTexts(texts: readonly string[], tokenise: Tokeniser): Promise<(readonly string[])[]> {
  const pause = createEventBreaks();
  const lists: (readonly string[])[] = [];
  for (const text of texts) {
    lists.push(tokenise(text));
    await pause();
  }
  return lists;
}

function createLsaEncoder(
  identity: Readonly<Record<string, unknown>> & { readonly dimension: number },
  projection: Float32Array, // row-major [terms, D]
  vocabulary: Vocabulary,
  tokenise: Tokeniser,
  remarks: readonly string[],
): FittedLsa {
  const { dimension } = identity;
  return {
    name: 'lsa',
    dimension,
    identity,
    remarks,
    async encode(texts, progress = ignoreProgress, { signal } = {}) {
      const stage = progress('encode with lsa', texts.length);
      const pause = createEventBreaks();
      const rows = new Float32Array(texts.length * dimension);
      for (let start = 0; start < texts.length; start += FOLDED_TEXTS) {
        signal?.throwIfAborted();
        const terms = weighTerms(texts.slice(start, start + FOLDED_TEXTS).map(tokenise), vocabulary);
        rows.set(multiplySparseByDense(terms, projection, dimension), start * dimension);
        stage.update(start + terms.rows);
        await pause();
      }
      scaleRowsToUnit(rows, dimension);
      stage.finish(`${texts.length} texts`);
      return rows;
    },
    dispose() {},
  };
}
