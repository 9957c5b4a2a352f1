import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { attachDisplay, buildTableBundle, phrase, stateShown } from '../../core/display/display.ts';
import { ValidationError } from '../../core/errors/errors.ts';
import { readText } from '../../core/files/files.ts';
import { readJsonLines } from '../../core/files/text-lines.ts';
import { parse, parseOrNull } from '../../core/validation/validation.ts';
import { getOrCompute } from '../../core/values/once.ts';
import { readQrels, readRun, readSuperseded, SUPERSEDED_FILE } from '../../eval/trec/trec-files.ts';
import type { Qrels, Run, Superseded } from '../../model/run.ts';
import { formatFileName } from '../composition/arms.ts';
import { type Plain, readYaml } from '../composition/config-file.ts';
import { listRepetitions } from '../config/arm-selection.ts';
import { type Environment, numberedLook } from '../measure/result.ts';
import { resolvedPlugin } from '../plugins/resolved-plugin.ts';
import { encoderUse } from '../run/environment.ts';

/** The part of a stored run that is shown. */
interface ShownRun {
  readonly summary: {
    readonly experiment: string;
    readonly baseline: string;
    readonly dataset: { readonly name: string };
    readonly arms: readonly { readonly name: string; readonly description: string }[];
    readonly failures: readonly { readonly name: string; readonly message: string }[];
  };
  readonly queries: readonly unknown[];
  /** By arm, the rankings of its queries. */
  readonly runs: ReadonlyMap<string, { readonly size: number }>;
}

/**
 * Lets a notebook show a stored run as a table of its arms. Their figures are those of `rescore`.
 *
 * @returns the same object.
 */
function displayStoredRun<T extends ShownRun>(stored: T): T {
  return attachDisplay(stored, ({ summary: { experiment, baseline, dataset, arms, failures }, queries, runs }) => {
    const rows = arms.map(({ name, description }) => ({
      arm: stateShown(name === baseline ? `${name} (baseline)` : name),
      rankings: runs.get(name)?.size ?? 0,
      description: stateShown(description),
    }));
    const failed = failures.map(({ name, message }) => ({ arm: stateShown(`${name} failed: ${message}`) }));
    const caption = phrase`${stateShown(experiment)}: ${queries.length} queries of ${stateShown(dataset.name)}`;
    return buildTableBundle([...rows, ...failed], { caption, limit: 100 });
  });
}

const count = z.number().int();
const text = z.string();

/** The part of metrics.json that is read; the file has more. */
const summarySchema = z.object({
  experiment: text,
  hash: text,
  baseline: text,
  statistics: z.object({ samples: count, level: z.number() }),
  arms: z
    .array(
      z.object({
        name: text,
        description: text,
        tuned: z.record(text, z.unknown()),
        levels: z.record(text, text).nullable(),
        control: z.object({ of: text, kind: text }).nullable(),
      }),
    )
    .min(1),
  failures: z.array(z.object({ name: text, description: text, code: text, message: text })),
  look: numberedLook.optional(),
  dataset: z.object({
    name: text,
    task: text,
    features: z.array(text),
    licence: text,
    relevantGrade: z.number(),
    gradeNames: z.record(text, text),
    hash: text,
    split: text,
    facts: z.record(text, z.number()),
  }),
});

const querySchema = z.object({
  id: text,
  text: text.transform(stateShown), // as the report of the run showed it
  timestamp: z.number(),
  author: text.nullable(),
  channel: text.nullable(),
  cluster: text,
  kind: text.nullable(),
  turnId: text.nullable(),
});

/** Runs of former versions have no tokens. */
const turnSchema = z.object({ id: text, conversation: text, tokens: count.optional() });

const environmentSchema = z.object({
  version: text,
  commit: text,
  date: text.optional(),
  node: text,
  backend: text,
  backendReason: text.optional(),
  packages: z.record(text, text),
  machine: z.object({ platform: text, cpu: text, cores: count, memoryGiB: z.number() }),
  seed: count,
  command: text,
  plugins: z.array(resolvedPlugin).optional(),
  dataFolder: text.optional(),
  encoderUse: z.array(encoderUse).optional(),
});

/** A run as read from its folder. */
export interface StoredRun {
  readonly folder: string;
  readonly summary: z.output<typeof summarySchema>;
  readonly config: Plain;
  readonly environment: Environment;
  /** All evaluated queries, those without a relevant turn last. */
  readonly queries: readonly z.output<typeof querySchema>[];
  readonly qrels: Qrels;
  /** Null if the dataset of the run names none. */
  readonly superseded: Superseded | null;
  /** By arm. */
  readonly runs: ReadonlyMap<string, Run>;
  /** Rankings with other seeds, by the arm that they repeat and the number of the repetition. */
  readonly repetitions: ReadonlyMap<string, ReadonlyMap<number, Run>>;
  /** The conversation of every turn of the corpus. */
  readonly conversations: ReadonlyMap<string, string>;
  /** The tokens of every turn of the corpus; empty for a run of a former version. */
  readonly tokens: ReadonlyMap<string, number>;
}

function parseStoredPart<S extends z.ZodType>(schema: S, content: string, where: string): z.output<S> {
  try {
    return parse(schema, JSON.parse(content), where);
  } catch (error) {
    throw new ValidationError(
      `not part of a run of this version: ${where}; run the experiment again`,
      { where },
      { cause: error },
    );
  }
}

function readRows<S extends z.ZodType>(schema: S, path: string): z.output<S>[] {
  return readJsonLines(path, (line, where) => parseStoredPart(schema, line, where));
}

const repeatedArms = z.looseObject({
  seed: count,
  arms: z.array(z.looseObject({ name: text, seed: count.nullish(), repeats: text.nullish() })),
});

/** The rankings of repetitions. One that failed has none. */
function readRepetitions(folder: string, config: Plain): Map<string, Map<number, Run>> {
  const repetitions = new Map<string, Map<number, Run>>();
  const found = parseOrNull(repeatedArms, config);
  if (found === null) return repetitions; // a score of run files has no arms
  for (const { arm, number, name } of listRepetitions(found.arms, found.seed)) {
    const path = join(folder, `runs/${formatFileName(name)}.trec`);
    if (existsSync(path)) getOrCompute(repetitions, arm, () => new Map<number, Run>()).set(number, readRun(path));
  }
  return repetitions;
}

/** True if a path is the folder of a finished run. */
export function isStoredRun(path: string): boolean {
  return existsSync(join(path, 'metrics.json')) && existsSync(join(path, 'queries.jsonl'));
}

function readSummary(folder: string): z.output<typeof summarySchema> {
  const path = join(folder, 'metrics.json');
  return parseStoredPart(summarySchema, readText(path), path);
}

/** The run file of each arm of a finished run. @throws as {@link openRun} does. */
export function listArmRunFiles(folder: string): { readonly arm: string; readonly path: string }[] {
  return readSummary(folder).arms.map(({ name }) => ({
    arm: name,
    path: join(folder, `runs/${formatFileName(name)}.trec`),
  }));
}

/**
 * Reads the files of a finished run.
 *
 * @throws ValidationError naming the file and line that is not as this version writes it, StorageError for a file that
 *   cannot be read.
 */
export function openRun(folder: string): StoredRun {
  const joinRunPath = (name: string) => join(folder, name);
  if (!existsSync(joinRunPath('queries.jsonl')))
    throw new ValidationError(
      `folder has no queries.jsonl: ${folder}; name the folder of a finished run, or run it again`,
      { folder },
    );
  const summary = readSummary(folder);
  const config = readYaml(joinRunPath('config.yaml'));
  const turns = readRows(turnSchema, joinRunPath('turns.jsonl'));
  return displayStoredRun({
    folder,
    summary,
    config,
    repetitions: readRepetitions(folder, config),
    environment: parseStoredPart(
      environmentSchema,
      readText(joinRunPath('environment.json')),
      joinRunPath('environment.json'),
    ),
    queries: readRows(querySchema, joinRunPath('queries.jsonl')),
    qrels: readQrels(joinRunPath('qrels.trec')),
    superseded: existsSync(joinRunPath(SUPERSEDED_FILE)) ? readSuperseded(joinRunPath(SUPERSEDED_FILE)) : null,
    runs: new Map(summary.arms.map(({ name }) => [name, readRun(joinRunPath(`runs/${formatFileName(name)}.trec`))])),
    conversations: new Map(turns.map(({ id, conversation }) => [id, conversation])),
    tokens: new Map(turns.flatMap(({ id, tokens }) => (tokens === undefined ? [] : [[id, tokens]]))),
  });
}
