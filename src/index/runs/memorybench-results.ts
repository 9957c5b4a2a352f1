import { z } from 'zod';
import { ValidationError } from '../../core/errors/errors.ts';
import { parseOrNull } from '../../core/validation/validation.ts';
import { compareScored } from '../../model/turns/tie-rule.ts';
import type { RunLine } from './run-lines.ts';

/**
 * Rankings of LMEB (github.com/KaLM-Embedding/LMEB, run_lmeb.py at commit 753bfc59), which runs mteb 2:
 * `<task>_predictions.json` of mteb's `_save_task_predictions`, with `run_kwargs` `{"prediction_folder": ...}`. Subset,
 * split, query and document nest, with a score.
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
 * @throws ValidationError for a file of means, for a subset that is missing or not chosen, and for a task without
 *   rankings.
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

/**
 * Result files of memorybench (github.com/supermemoryai/memorybench), as its sources write them: `results/<question>.json` of
 * `src/orchestrator/phases/search.ts` and `report.json` of `phases/report.ts`, checkpoint schema 4 at commit 462192ac, and the report of the versions before
 * and after, at 416da1f1, whose search results are of the provider's own shape.
 */
const name = z.union([z.string().min(1), z.number().transform(String)]);

const found = z.looseObject({
  id: name.optional(),
  rank: z.number().optional(),
  sessionId: z.string().nullish(),
  metadata: z.looseObject({ sessionId: z.string().nullish() }).nullish(),
});
type Found = z.output<typeof found>;

const question = z.looseObject({ questionId: name, results: z.array(found) });

const evaluation = z.looseObject({
  questionId: name,
  searchResults: z.array(found),
  retrievalMetrics: z.looseObject({ hitAtK: z.number(), recallAtK: z.number().optional() }).nullish(),
});

const report = z.looseObject({ provider: z.string(), evaluations: z.array(evaluation) });

/** The lines of a result file, and what it states besides. */
export interface ForeignRun {
  readonly lines: readonly RunLine[];
  /** The name of the system, empty if the file does not state it. */
  readonly system: string;
  /** The number of questions of a file that reports its hit rate as recall. */
  readonly hitRates?: number;
}

function readSession({ sessionId, metadata }: Found): string | null {
  return sessionId ?? metadata?.sessionId ?? null;
}

/** The documents of one question, best first: the sessions where every result has one, else the results by id. */
function listLines(queryId: string, results: readonly Found[], at: string, tag: string): RunLine[] {
  const ordered = results.toSorted((a, b) => (a.rank ?? 0) - (b.rank ?? 0));
  const sessions = ordered.map(readSession);
  const ids = sessions.every((session) => session !== null) ? sessions : ordered.map(({ id }) => id);
  const missing = ids.indexOf(undefined);
  if (missing >= 0)
    throw new ValidationError(
      `search result ${missing + 1} of question ${queryId} at ${at} has neither sessionId nor id; convert it to JSONL`,
      { at, queryId },
    );
  // Several memories of one session are one hit: the session stands where its first memory does.
  return [...new Set(ids as string[])].map((id, i) => ({ at, queryId, id, rank: i + 1, score: -(i + 1), tag }));
}

/** The number of questions, if the report's recall is 0 or 1 with its hit rate, question by question; else 0. */
function countHitRates(evaluations: z.output<typeof report>['evaluations']): number {
  const measured = evaluations.flatMap(({ retrievalMetrics: metrics }) =>
    metrics?.recallAtK === undefined ? [] : [metrics.recallAtK === metrics.hitAtK],
  );
  return measured.includes(false) ? 0 : measured.length;
}

/**
 * Reads one JSON file of memorybench. @returns null for a file of another shape.
 *
 * @throws ValidationError for a search result without a session and an id, naming the question.
 */
export function readMemorybenchFile(json: unknown, source: string): ForeignRun | null {
  const whole = parseOrNull(report, json);
  if (whole !== null) {
    const { provider, evaluations } = whole;
    const lines = evaluations.flatMap(({ questionId, searchResults }) =>
      listLines(questionId, searchResults, source, provider),
    );
    return { lines, system: provider, hitRates: countHitRates(evaluations) };
  }
  const asked = parseOrNull(question, json);
  if (asked === null) return null;
  const { questionId, results } = asked;
  const system = parseOrNull(z.object({ provider: z.string() }), results[0])?.provider ?? '';
  return { lines: listLines(questionId, results, source, system), system };
}
