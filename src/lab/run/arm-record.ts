import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import {
  ChecksumMismatchError,
  ConfigurationError,
  type ConfigurationFault,
  RagPlusPlusError,
  ValidationError,
} from '../../core/errors/errors.ts';
import { readText, writeAtomic } from '../../core/files/files.ts';
import { encodeSafetensors, readCheckedSafetensors, type TensorFile } from '../../core/files/safetensors.ts';
import { formatSignificant } from '../../core/text/format.ts';
import { check, parse } from '../../core/validation/validation.ts';
import type { EncoderUse } from '../../model/encoder.ts';
import type { SignedSlices, SliceAnswer } from '../../rank/retrieval/packed-slices.ts';
import type { RankedComponents, RankedPositions } from '../../rank/retrieval/retriever.ts';
import type { StepChange } from '../../rank/retrieval/step-changes.ts';
import type { StageCounts } from '../../rank/signals/stage.ts';
import { formatFileName, joinNames } from '../composition/arms.ts';
import type { ArmOptions } from '../config/config.ts';
import { armOptions } from '../config/config-schema.ts';
import type { ArmOutcomes } from '../launch/launcher.ts';
import type { RecordedConservation } from '../measure/conservation.ts';
import type { ArmFailure, Latency, StepEffect } from '../measure/result.ts';
import type { TunedArm } from './tuning.ts';

/** The parts of a report about the first I ranks of each ranking besides their scores. */
export interface InspectedRanks {
  /** The P' parts of a score that add up to it. */
  readonly contributionNames: readonly string[];
  /** Row-major [Q, I, P']; they add up to the score before a selection. */
  readonly contributions: Float32Array;
  /** The M coordinates of an arm with trajectory; empty of others. */
  readonly coordinateNames: readonly string[];
  /** Row-major [Q, I, 2, M]: those of the turn, then those of the query in the frame of the turn's conversation. */
  readonly coordinates: Float32Array;
  /** [Q, 5] of an arm with the signal `strategy`: the weights of `MEMORY_SIGNALS` for each query. */
  readonly strategyWeights?: readonly (readonly number[])[];
}

/** The slices that a kernel signed, and the queries that they are of. */
export interface RecordedSlices extends SignedSlices {
  readonly queries: readonly string[];
}

/** The rankings of an arm for Q queries, K ranks each, with everything that measuring and reporting need. */
export interface ArmRecord extends TunedArm, RankedPositions, RankedComponents, Partial<InspectedRanks> {
  /** Of an arm with a slice: those of the evaluated queries, in order, then those of the queries that it was tuned on. */
  readonly slices?: RecordedSlices;
  /** Only with `evaluation.conservation`. */
  readonly conservation?: RecordedConservation;
  readonly name: string;
  /** Missing in records of earlier versions. */
  readonly changes?: readonly StepChange[];
  /** The fate of each query's relevant turns, query after query: numbers of `LOSS_STAGES`. */
  readonly losses: Uint8Array;
  /** By stage; what another process left on disk is not executed again, so these differ between runs. */
  readonly stages: StageCounts;
  readonly seconds: number;
  /** The maximum number of arms run at the same time: an arm takes longer beside others. */
  readonly armsAtOnce: number;
  /** Milliseconds a query, by component; null if not timed. */
  readonly latency: Readonly<Record<string, Latency>> | null;
}

/** The remedy in the error about a damaged outcome. */
const REMEDY = 'run again with --resume to run its arm again';

/** The folder of the records in a run's folder. */
export const RECORDS = 'arms';

export function recordPath(runFolder: string, arm: string): string {
  return join(runFolder, RECORDS, `${formatFileName(arm)}.safetensors`);
}

/** The bytes of a record's file. */
export function encodeArmRecord(record: ArmRecord): Uint8Array {
  const { positions, scores, components, losses, contributions, coordinates, slices, conservation, ...facts } = record;
  const { depth, inspected, componentNames, contributionNames = [], coordinateNames = [] } = facts;
  const queries = positions.length / depth;
  return encodeSafetensors({
    tensors: {
      positions: { shape: [queries, depth], data: positions },
      scores: { shape: [queries, depth], data: scores },
      components: { shape: [queries, inspected, componentNames.length], data: components },
      losses: { shape: [losses.length], data: losses },
      ...(contributions === undefined
        ? {}
        : { contributions: { shape: [queries, inspected, contributionNames.length], data: contributions } }),
      ...(coordinates === undefined
        ? {}
        : {
            coordinates: {
              shape: coordinates.length === 0 ? [0] : [queries, inspected, 2, coordinateNames.length],
              data: coordinates,
            },
          }),
      ...(slices && {
        sliceStarts: { shape: [slices.starts.length], data: slices.starts },
        slicePositions: { shape: [slices.positions.length], data: slices.positions },
      }),
      ...(conservation && {
        conservation: { shape: [queries, conservation.sets.length, 4], data: conservation.values },
      }),
    },
    metadata: {
      arm: JSON.stringify(facts),
      ...(slices && { slices: JSON.stringify({ queries: slices.queries, answers: slices.answers }) }),
      ...(conservation && { conservation: JSON.stringify({ ...conservation, values: undefined }) }),
    },
  });
}

/** Written whole or not at all, so that a record that is there is complete. */
export function writeArmRecord(path: string, record: ArmRecord): void {
  writeAtomic(path, encodeArmRecord(record));
}

/** The parts of a record that are not arrays. */
type Facts = Omit<
  ArmRecord,
  'positions' | 'scores' | 'components' | 'losses' | 'contributions' | 'coordinates' | 'slices' | 'conservation'
>;

const text = z.string();
const count = z.int().min(0);
const number = z.number();

const factsSchema: z.ZodType<Facts> = z.strictObject({
  name: text,
  options: armOptions,
  tuned: z.record(text, z.unknown()),
  depth: count,
  componentNames: z.array(text),
  contributionNames: z.array(text).exactOptional(),
  coordinateNames: z.array(text).exactOptional(),
  strategyWeights: z.array(z.array(number)).exactOptional(),
  inspected: count,
  changes: z
    .array(
      z.strictObject({
        step: text,
        queries: count,
        tokens: z.strictObject({ shown: number, of: number }).exactOptional(),
      }),
    )
    .exactOptional(),
  stages: z.record(
    text,
    z.strictObject({
      ...{ executed: count, memory: count, disk: count, launches: count, seconds: number },
      ...{ bytesRead: count.default(0), garbageSeconds: number.default(0) }, // earlier versions did not count them
    }),
  ),
  seconds: number,
  armsAtOnce: z.int().min(1),
  latency: z.record(text, z.strictObject({ p50: number, p95: number, p99: number })).nullable(),
});

/** @throws ChecksumMismatchError for facts that are not those of a record. */
function parseFacts(json: string, path: string): Facts {
  const found = check(factsSchema, JSON.parse(json));
  if ('value' in found) return found.value;
  const [{ path: location, expected, got }] = found.faults as [ConfigurationFault];
  throw new ChecksumMismatchError(
    path,
    `not the record of an arm (${location}: expected ${expected}, got ${got})`,
    REMEDY,
  );
}

/** The file has a checksum, and a replay verifies what it takes from a run. */
function readSlices({ sliceStarts, slicePositions }: TensorFile['tensors'], metadata: TensorFile['metadata']) {
  const [starts, positions] = [sliceStarts?.data, slicePositions?.data];
  if (!(starts instanceof Int32Array) || !(positions instanceof Int32Array) || metadata.slices === undefined) return {};
  const { queries, answers } = JSON.parse(metadata.slices) as { queries: string[]; answers: SliceAnswer[] };
  return { slices: { queries, answers, starts, positions } };
}

/** The file has a checksum. */
function readConservation({ data }: TensorFile['tensors'][string], metadata: TensorFile['metadata']) {
  if (metadata.conservation === undefined || !(data instanceof Float64Array)) return {};
  const { k, weights, sets } = JSON.parse(metadata.conservation) as RecordedConservation;
  return { conservation: { k, weights, sets, values: data } };
}

/** @throws StorageError, ChecksumMismatchError naming the file and what to do about it. */
export function readArmRecord(path: string): ArmRecord {
  const { tensors, metadata } = readCheckedSafetensors(path, REMEDY);
  const [positions, scores] = [tensors.positions?.data, tensors.scores?.data];
  const [components, losses] = [tensors.components?.data, tensors.losses?.data];
  if (
    !(positions instanceof Int32Array) ||
    !(scores instanceof Float32Array) ||
    !(components instanceof Float32Array) ||
    !(losses instanceof Uint8Array) ||
    metadata.arm === undefined
  )
    throw new ChecksumMismatchError(path, 'not the record of an arm', REMEDY);
  const [contributions, coordinates] = [tensors.contributions?.data, tensors.coordinates?.data];
  return {
    ...parseFacts(metadata.arm, path),
    positions,
    scores,
    components,
    losses,
    ...(contributions instanceof Float32Array ? { contributions } : {}),
    ...(coordinates instanceof Float32Array ? { coordinates } : {}),
    ...readSlices(tensors, metadata),
    ...(tensors.conservation && readConservation(tensors.conservation, metadata)),
  };
}

/** The code of an error that is not ours, so an error of the program: its stack has the details. */
const UNEXPECTED = 'UNEXPECTED';

const failureSchema = z.strictObject({
  name: z.string(),
  code: z.string(),
  message: z.string(),
  stack: z.string(),
});
type FailureFile = z.output<typeof failureSchema>;

/** The outcomes of the requested arms. */
export interface Outcomes {
  readonly records: readonly ArmRecord[];
  readonly failures: readonly ArmFailure[];
  /** The calls of services by the processes that began the run, if this one resumes it. */
  readonly earlierUse?: readonly EncoderUse[];
}

export function joinFailurePath(runFolder: string, arm: string): string {
  return join(runFolder, RECORDS, `${formatFileName(arm)}.failed.json`);
}

/** An error as it appears in the table; several lines become one. */
function buildFailureFile(name: string, error: unknown): FailureFile {
  const message = error instanceof Error ? error.message : String(error);
  return {
    name,
    code: error instanceof RagPlusPlusError ? error.code : UNEXPECTED,
    message: message.replace(/\s*\n\s*/g, '; '),
    stack: (error instanceof Error ? error.stack : undefined) ?? '',
  };
}

export function buildArmFailure({ name, description }: ArmOptions, error: unknown): ArmFailure {
  const { code, message } = buildFailureFile(name, error);
  return { name, description, code, message };
}

function formatFailure(failure: FailureFile): string {
  return `${JSON.stringify(failure, null, 2)}\n`;
}

/** Writes the failure of an arm to a run's folder. */
export function writeFailure(runFolder: string, arm: string, error: unknown): void {
  writeAtomic(joinFailurePath(runFolder, arm), formatFailure(buildFailureFile(arm, error)));
}

/** The file of an arm that failed where nothing was written. */
export function encodeFailure({ name, code, message }: ArmFailure): string {
  return formatFailure({ name, code, message, stack: '' });
}

/** True if an arm is done, with or without an error. */
export function hasOutcome(runFolder: string, arm: string): boolean {
  return existsSync(recordPath(runFolder, arm)) || existsSync(joinFailurePath(runFolder, arm));
}

/** The outcomes in a run's folder, for the launchers. */
export function outcomesIn(runFolder: string): ArmOutcomes {
  return {
    has: (arm) => hasOutcome(runFolder, arm),
    accept: (arm, { isFailure, bytes }) =>
      writeAtomic(isFailure ? joinFailurePath(runFolder, arm) : recordPath(runFolder, arm), bytes),
    fail: (arm, error) => writeFailure(runFolder, arm, error),
  };
}

/** @throws ChecksumMismatchError for a file that is cut short or altered. */
function readFailure(path: string): FailureFile {
  try {
    return parse(failureSchema, JSON.parse(readText(path)), path);
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof ConfigurationError)) throw error;
    throw new ChecksumMismatchError(path, 'not the failure of an arm', REMEDY);
  }
}

/** An arm that was run again has both files, and its record counts. */
function readOutcome(runFolder: string, arm: string): ArmRecord | FailureFile | null {
  if (existsSync(recordPath(runFolder, arm))) return readArmRecord(recordPath(runFolder, arm));
  return existsSync(joinFailurePath(runFolder, arm)) ? readFailure(joinFailurePath(runFolder, arm)) : null;
}

/** The outcomes of arms in a run's folder; omits arms without one. @throws ChecksumMismatchError for a damaged one. */
export function readOutcomes(runFolder: string, arms: readonly ArmOptions[]): Outcomes {
  const records: ArmRecord[] = [];
  const failures: ArmFailure[] = [];
  for (const { name, description } of arms) {
    const outcome = readOutcome(runFolder, name);
    if (outcome === null) continue;
    if ('positions' in outcome) records.push(outcome);
    else failures.push({ name, description, code: outcome.code, message: outcome.message });
  }
  return { records, failures };
}

/**
 * Removes unreadable outcomes from the folder of a resumed run, so that those arms run again.
 *
 * @returns the arms.
 */
export function removeDamagedOutcomes(runFolder: string, arms: readonly string[]): string[] {
  return arms.filter((arm) => {
    try {
      readOutcome(runFolder, arm);
      return false;
    } catch (error) {
      if (!(error instanceof ChecksumMismatchError)) throw error;
      for (const path of [recordPath(runFolder, arm), joinFailurePath(runFolder, arm)]) rmSync(path, { force: true });
      return true;
    }
  });
}

/** An arm with what its steps changed. */
interface ChangedArm {
  readonly options: Pick<ArmOptions, 'name' | 'control' | 'unchanged'>;
  readonly changes?: readonly StepChange[];
  /** Path -> value that was chosen from a grid. */
  readonly tuned?: TunedArm['tuned'];
  /** The numbers of a mix that is fitted, by name. */
  readonly weights?: Readonly<Record<string, number>>;
}

/** The name of a step as its arm lists it: parts of steps follow a dot. */
const nameWhole = (step: string) => step.split('.')[0] as string;

/** The reason of a step that was tuned to values with which it changes nothing: `tuned: blend.trajectory.weight 0`. */
function describeTuned(tuned: TunedArm['tuned'], step: string): string | undefined {
  const own = Object.entries(tuned).filter(([path]) => nameWhole(path) === step);
  return own.length === 0 ? undefined : `tuned: ${own.map(([path, value]) => `${path} ${String(value)}`).join(', ')}`;
}

/** The steps of an arm with their counts, and the reason where a count is 0. @param queries how many were ranked */
export function describeSteps(
  { options: { unchanged = {} }, changes = [], tuned = {} }: ChangedArm,
  queries: number,
): StepEffect[] {
  return changes.map((change) => {
    const step = nameWhole(change.step);
    const reason = change.queries === 0 ? (unchanged[step] ?? describeTuned(tuned, step)) : undefined;
    return { ...change, of: queries, ...(reason !== undefined && { reason }) };
  });
}

/** ` by the weights bm25 0.7, cosine 0.2`, the greatest first. */
function describeWeights(weights: ChangedArm['weights'], steps: readonly string[]): string {
  if (weights === undefined || !steps.includes('mix')) return '';
  const sorted = Object.entries(weights).sort(([, a], [, b]) => Math.abs(b) - Math.abs(a));
  return ` by the weights ${joinNames(sorted.map(([name, weight]) => `${name} ${formatSignificant(weight)}`))}`;
}

/**
 * An arm counts only if its treatment was applied: each of its steps changes a query, or says why it changes none. Null
 * controls pass: on destroyed structure a step without effect is a finding.
 *
 * @param queries how many were ranked.
 * @throws ValidationError naming the steps that change nothing.
 */
export function assertStepsApplied(arm: ChangedArm, queries: number): void {
  const { name, control } = arm.options;
  const idle = describeSteps(arm, queries).filter(({ queries: changed, reason }) => changed === 0 && !reason);
  if (control !== null || idle.length === 0) return;
  const steps = idle.map(({ step }) => step);
  const [first = ''] = steps;
  const what = steps.length === 1 ? `step ${first} changes` : `steps ${steps.join(', ')} change`;
  const by = describeWeights(arm.weights, steps);
  throw new ValidationError(
    `arm ${name}: ${what} none of ${queries} queries${by}; leave ${steps.length === 1 ? 'it' : 'them'} out, change the options, or say why beside the step: unchanged: REASON`,
    { arm: name, steps, queries },
  );
}
