import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { parseOrNull } from '../../core/validation/validation.ts';
import { compareScored } from '../../model/turns/tie-rule.ts';
import type { ForeignRun } from './memorybench-results.ts';

/**
 * Rankings of LMEB (github.com/KaLM-Embedding/LMEB, run_lmeb.py at commit 753bfc59), which runs mteb 2: `<task>_predictions.json` of mteb's
 * `_save_task_predictions`, with `run_kwargs` `{"prediction_folder": ...}`. Subset, split, query and document nest, with a score.
 */
const predictions = z.looseObject({ mteb_model_meta: z.looseObject({ model_name: z.string().nullish() }) });
const split = z.record(z.string(), z.record(z.string(), z.number().nullable()));
const subset = z.record(z.string(), split);

/** The means of a task, which hold no ranking. */
const means = z.looseObject({ task_name: z.string(), scores: z.looseObject({}) });

/** The rankings by the names that choose them: a subset, with the split where a subset has several. */
function listParts(json: Readonly<Record<string, unknown>>, source: string): Map<string, z.output<typeof split>> {
  const parts = new Map<string, z.output<typeof split>>();
  for (const [name, content] of Object.entries(json)) {
    if (name === 'mteb_model_meta') continue;
    const read = parseOrNull(subset, content);
    if (read === null)
      throw new ValidationError(`subset ${name} of ${source} holds no rankings of queries; name a retrieval task`, {
        source,
      });
    const splits = Object.entries(read);
    for (const [of, queries] of splits) parts.set(splits.length === 1 ? name : `${name}/${of}`, queries);
  }
  return parts;
}

function choosePart(parts: ReadonlyMap<string, z.output<typeof split>>, wanted: string | null, source: string) {
  const names = [...parts.keys()];
  const chosen = parts.get(wanted ?? (names.length === 1 ? (names[0] as string) : ''));
  if (chosen !== undefined) return chosen;
  const problem = wanted === null ? `${source} holds ${names.length} subsets` : `${source} has no subset ${wanted}`;
  throw new ValidationError(`${problem}; choose one: ${names.map((name) => `${source}#${name}`).join(', ')}`, {
    source,
    names,
  });
}

/**
 * Reads the predictions of an mteb task. @returns null for a file of another shape.
 *
 * @param wanted the subset, null for the only one.
 * @throws ValidationError for a file of means, for a subset that is missing or not chosen, and for a task without rankings.
 */
export function readMtebPredictions(json: unknown, wanted: string | null, source: string): ForeignRun | null {
  const read = parseOrNull(predictions, json);
  if (read === null) {
    if (parseOrNull(means, json) === null) return null;
    throw new ValidationError(
      `file holds means, no rankings: ${source}; run LMEB with --run_kwargs '{"prediction_folder": "predictions"}' and name the file of predictions`,
      { source },
    );
  }
  const system = read.mteb_model_meta.model_name ?? '';
  const queries = choosePart(listParts(read, source), wanted, source);
  const lines = Object.entries(queries).flatMap(([queryId, scores]) =>
    Object.entries(scores).map(([id, score]) => ({
      ...{ at: source, queryId, id, rank: null, tag: system },
      score: score ?? Number.NaN,
    })),
  );
  // mteb writes documents in the order of its index, not of the scores.
  const [finite, others] = [
    lines.filter(({ score }) => Number.isFinite(score)),
    lines.filter(({ score }) => !Number.isFinite(score)),
  ];
  return { lines: [...finite.sort(compareScored), ...others], system };
}
