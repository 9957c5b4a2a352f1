import { join } from 'node:path';
import { z } from 'zod';
import { computeHash } from '../../src/core/hash/hash.ts';
import { loadDataset } from '../../src/data/registry.ts';
import { createEncoder, encoderOptions } from '../../src/index/encoders/registry.ts';
import type { NearForms } from '../../src/index/graph/concept-graph.ts';
import { readTitle } from '../../src/index/graph/graph-moment.ts';
import { findNearForms } from '../../src/index/walks/concept-graphs.ts';
import type { Encoder } from '../../src/model/encoder.ts';
import type { Study, StudyContext } from '../study.ts';
import { formatPipeTable } from '../text-table.ts';
import {
  chooseThreshold,
  type FindSimilarForms,
  findByLetters,
  HALVES,
  listNamePairs,
  measureThreshold,
  type ThresholdQuality,
  type TitledPassage,
} from './name-pairs.ts';

const settings = z.strictObject({
  seed: z.int().default(20260101),
  /** The folder of the samples: see docs/datasets/multihop.md. */
  path: z.string().min(1).default('hipporag'),
  /** The sample whose passages begin with the name of what their titles name. */
  named: z.string().min(1).default('hotpotqa_train'),
  /** The sample of which the titles alone are read: names of other things. */
  others: z.string().min(1).default('musique_train'),
  /** Thresholds to choose from. */
  thresholds: z
    .array(z.number().positive().max(1))
    .min(1)
    .default([0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8]),
  /** The encoder whose cosines are compared too. */
  embedding: encoderOptions.prefault({ encoder: 'lsa' }),
  cosines: z.array(z.number().positive().max(1)).min(1).default([0.6, 0.7, 0.8, 0.85, 0.9, 0.95, 0.98]),
});
type Settings = z.output<typeof settings>;

async function loadPassages(path: string, sample: string, { cacheFolder, progress }: StudyContext) {
  const files = { questions: `${sample}.json`, passages: `${sample}_corpus.json` };
  const dataset = await loadDataset(
    { name: 'multihop', path, ...files },
    { cacheFolder: join(cacheFolder, 'datasets'), progress },
  );
  const passages = dataset.corpus.turns.map((turn) => {
    const title = readTitle(turn) ?? '';
    // The text of a passage begins with its title on a line.
    return { title, text: turn.text.slice(title.length + 1) };
  });
  return { passages, name: `${dataset.name} ${sample}`, hash: dataset.hash };
}

const formatShare = (share: number) => share.toFixed(3).replace(/^0/, '');

function buildTable(rows: readonly { readonly tune: ThresholdQuality; readonly heldOut: ThresholdQuality }[]): string {
  const head = ['threshold', 'precision', 'recall', 'F1', 'precision, held out', 'recall, held out', 'F1, held out'];
  return formatPipeTable({
    head,
    rows: rows.map(({ tune, heldOut }) => [
      `${tune.threshold}`,
      ...[tune, heldOut].flatMap(({ precision, recall, f1 }) => [precision, recall, f1].map(formatShare)),
    ]),
  });
}

/** The threshold that is best on one half of the pairs, and every threshold on both. */
async function measureThresholds(
  passages: readonly TitledPassage[],
  otherTitles: readonly string[],
  thresholds: readonly number[],
  find: FindSimilarForms,
) {
  const pairs = await listNamePairs(passages, otherTitles, find);
  const [tuning, reported] = HALVES;
  const chosen = chooseThreshold(pairs, tuning, thresholds);
  return {
    same: HALVES.map((half) => pairs.filter((pair) => pair.half === half && pair.isSame).length),
    chosen,
    heldOut: measureThreshold(pairs, reported, chosen.threshold),
    thresholds: thresholds.map((threshold) => ({
      tune: measureThreshold(pairs, tuning, threshold),
      heldOut: measureThreshold(pairs, reported, threshold),
    })),
  };
}

/** By the cosine of vectors, of forms with the same numbers, as the index `graph` does. */
async function findByVectors(forms: readonly string[], encoder: Encoder, options: Settings): Promise<NearForms> {
  const vectors = await encoder.encode(forms);
  const { dimension } = encoder;
  const aliasCosine = Math.min(...options.cosines);
  return findNearForms([forms], { names: forms, vectors, dimension }, { edges: { alias: 1 }, aliasCosine });
}

function describeChoice(
  { same, chosen, heldOut, thresholds }: Awaited<ReturnType<typeof measureThresholds>>,
  of: string,
) {
  return [
    `${of}. Two names of one thing: ${same[0]} pairs to choose from, ${same[1]} held out.`,
    buildTable(thresholds),
    `Chosen: ${chosen.threshold}. Held out: precision ${formatShare(heldOut.precision)}, recall ${formatShare(heldOut.recall)}.`,
  ];
}

/** The similarity from which two forms count as spellings of one concept: chosen on half of the pairs of names, reported on the other half. */
export const conceptAliases: Study<typeof settings> = {
  name: 'concept-aliases',
  description:
    'from which similarity two forms are spellings of one concept: precision and recall on held-out pairs of names',
  settings,
  measure: async (given, context) => {
    const { path, named, others, thresholds, cosines, embedding, seed } = given;
    const [sample, other] = [await loadPassages(path, named, context), await loadPassages(path, others, context)];
    const otherTitles = other.passages.map(({ title }) => title);
    const least = Math.min(...thresholds);
    const letters = await measureThresholds(sample.passages, otherTitles, thresholds, findByLetters(least));
    const fitTexts = sample.passages.map(({ text }) => text);
    const encoder = await createEncoder(embedding, { fitTexts, seed });
    const vectors = await measureThresholds(sample.passages, otherTitles, cosines, async (forms) => {
      const near = await findByVectors(forms, encoder, given);
      return forms.map((form) => near.get(form) ?? new Map());
    }).finally(() => encoder.dispose());
    return {
      dataset: { name: `${sample.name}; ${other.name}`, hash: computeHash([sample.hash, other.hash]) },
      figures: { letters, vectors },
      sections: [...describeChoice(letters, 'Letters'), ...describeChoice(vectors, `Cosines of ${embedding.encoder}`)],
    };
  },
};
