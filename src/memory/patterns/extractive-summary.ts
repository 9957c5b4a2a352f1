import { once } from '../../core/values/once.ts';
import { getLanguageModel } from '../../model/text/language-model.ts';
import { createTokeniser } from '../../model/text/tokens.ts';
import { compareScored } from '../../model/turns/tie-rule.ts';
import { computeRerankScores } from '../engine/rerankers.ts';

/** How long a summary is, and the weight of what is common to all against what is new, in [0, 1]. */
export interface SummaryOptions {
  readonly sentences: number;
  readonly lambda: number;
}

/** A sentence of a summary. */
export interface ChosenSentence {
  readonly text: string;
  /** The index of the text that it is from. */
  readonly from: number;
}

interface Sentence extends ChosenSentence {
  readonly id: string;
  /** By stem: count times specificity. */
  readonly weights: ReadonlyMap<string, number>;
  /** Cosine with the sum of all sentences. */
  readonly score: number;
}

const splitIntoStems = once(() => createTokeniser({ dropStopWords: true, stem: true }));

/** A sentence with fewer content words is left out. */
const LEAST_STEMS = 3;
/** Sentences among which the choice is made: those closest to the whole. */
const MOST_COMPARED = 200;

function splitIntoSentences(text: string): string[] {
  const lines = text.split(/\n+/).filter((line) => line.trim() !== '');
  return lines.flatMap((line) => getLanguageModel().readDoc(line.trim()).sentences().out() as string[]);
}

const computeLength = (weights: ReadonlyMap<string, number>) =>
  Math.sqrt([...weights.values()].reduce((sum, weight) => sum + weight * weight, 0));

/** Sentences with the weights of their stems, those that are alike once, by score. */
function rateSentences(texts: readonly string[]): Sentence[] {
  const split = texts.flatMap((text, from) =>
    splitIntoSentences(text).map((sentence) => ({ text: sentence, from, stems: splitIntoStems()(sentence) })),
  );
  const kept = split.filter(({ stems }) => new Set(stems).size >= LEAST_STEMS);
  const holding = new Map<string, number>();
  for (const { stems } of kept) for (const stem of new Set(stems)) holding.set(stem, (holding.get(stem) ?? 0) + 1);
  const whole = new Map<string, number>();
  const weighed = kept.map(({ text, from, stems }) => {
    const weights = new Map<string, number>();
    for (const stem of stems) {
      const specificity = Math.log(1 + kept.length / (holding.get(stem) as number));
      weights.set(stem, (weights.get(stem) ?? 0) + specificity);
      whole.set(stem, (whole.get(stem) ?? 0) + specificity);
    }
    return { text, from, weights };
  });
  const length = computeLength(whole);
  return weighed
    .map(({ weights, ...sentence }, i) => {
      const product = [...weights].reduce((sum, [stem, weight]) => sum + weight * (whole.get(stem) as number), 0);
      const score = product / (length * computeLength(weights));
      return { ...sentence, weights, score, id: String(weighed.length - i).padStart(9, '0') }; // the earlier first among equals
    })
    .sort(compareScored);
}

/** [D] over the stems of some sentences. */
function toVectors(sentences: readonly Sentence[]): Float32Array[] {
  const dimensionOf = new Map<string, number>();
  for (const { weights } of sentences)
    for (const stem of weights.keys()) dimensionOf.set(stem, dimensionOf.get(stem) ?? dimensionOf.size);
  return sentences.map(({ weights }) => {
    const vector = new Float32Array(dimensionOf.size);
    for (const [stem, weight] of weights) vector[dimensionOf.get(stem) as number] = weight;
    return vector;
  });
}

/**
 * The sentences that say most of what texts say: those closest to the centroid of all sentences (cosine of stems weighed by specificity), each as new as possible,
 * by maximal marginal relevance. Sources: radev2004centroid, carbonell1998mmr.
 *
 * @returns sentences in the order of the texts; none if no sentence has three content words.
 */
export async function chooseSentences(
  texts: readonly string[],
  { sentences: count, lambda }: SummaryOptions,
): Promise<ChosenSentence[]> {
  const rated = rateSentences(texts).slice(0, MOST_COMPARED);
  const vectors = toVectors(rated);
  const candidates = rated.map(({ score }, i) => {
    return { score, outcome: null, createdAt: 0, embedding: vectors[i] as Float32Array };
  });
  const marginal = await computeRerankScores(candidates, { method: 'mmr', lambda }, 0);
  const taken = rated
    .map((sentence, i) => ({ sentence, id: sentence.id, score: marginal[i] as number }))
    .sort(compareScored) // the marginal relevance of each is at most that of the one taken before
    .slice(0, count);
  return taken
    .map(({ sentence }) => sentence)
    .sort((a, b) => (a.id < b.id ? 1 : -1))
    .map(({ text, from }) => ({ text, from }));
}
