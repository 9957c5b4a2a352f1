import { z } from 'zod';
import { countErrors, ValidationError } from '../../core/errors/errors.ts';
import { check, parseOrNull } from '../../core/validation/validation.ts';
import { id } from '../jsonl/jsonl-rows.ts';
import { LOCOMO_CATEGORIES, type LocomoCategory } from '../prepared/datasets.ts';

const SESSION_TIME = /^(\d{1,2}):(\d{2}) (am|pm) on (\d{1,2}) ([A-Z][a-z]+), (\d{4})$/;
const MONTHS = 'January February March April May June July August September October November December'.split(' ');
/** A session has one time: its turns are taken to follow each other after half a minute. */
const STEP_MS = 30_000;

/** The time of `1:56 pm on 8 May, 2023`, in milliseconds since 1970, taken as UTC; null for any other text. */
export function parseSessionTime(text: string): number | null {
  const [, hour, minute, half, day, monthName, year] = SESSION_TIME.exec(text) ?? [];
  const month = MONTHS.indexOf(monthName ?? '');
  if (month < 0 || Number(hour) < 1 || Number(hour) > 12 || Number(minute) > 59) return null;
  const hours = (Number(hour) % 12) + (half === 'pm' ? 12 : 0);
  const time = new Date(Date.UTC(Number(year), month, Number(day), hours, Number(minute)));
  return time.getUTCMonth() === month ? time.getTime() : null; // 31 April would be 1 May
}

/** When a session began, and how many turns it has. */
interface SessionSpan {
  readonly time: number;
  readonly turns: number;
}

/**
 * The times of the turns of each session: its time, and half a minute a turn, or less where the next session is near.
 * All times rise strictly; a session that begins before the last turn of the one before it is moved behind it.
 *
 * @param sessions in time order.
 */
export function computeTurnTimes(sessions: readonly SessionSpan[]): number[][] {
  let free = Number.NEGATIVE_INFINITY;
  return sessions.map(({ time, turns }, i) => {
    const start = Math.max(time, free);
    const next = sessions[i + 1]?.time ?? Number.POSITIVE_INFINITY;
    const step = Math.min(STEP_MS, Math.max(1, Math.floor((next - start) / turns)));
    free = start + step * turns;
    return Array.from({ length: turns }, (_, turn) => start + step * turn);
  });
}

const DIALOGUE_IDS = /D:?(\d+):(\d+)/g;

/** The dialogue ids in a text as `3:7` for turn 7 of session 3, with any zeros and colons. */
export function parseDialogueKeys(text: string): string[] {
  return [...text.matchAll(DIALOGUE_IDS)].map(([, session, turn]) => `${Number(session)}:${Number(turn)}`);
}

/** The turns that the evidence of a question names. */
interface Evidence {
  /** The turns that are there, once each, in the order in which they are named. */
  readonly turnIds: readonly string[];
  /** The number of dialogue ids that name no turn. */
  readonly unknown: number;
  /** The number of strings without a dialogue id. */
  readonly empty: number;
}

/**
 * Reads dialogue ids out of strings that people have typed: `D8:6; D9:17` is two, `D30:05` is D30:5, `D:11:26` is
 * D11:26.
 *
 * @param turns the id of the turn by its dialogue key.
 */
export function repairEvidence(strings: readonly string[], turns: ReadonlyMap<string, string>): Evidence {
  const named = strings.map(parseDialogueKeys);
  const keys = [...new Set(named.flat())];
  const turnIds = keys.flatMap((key) => turns.get(key) ?? []);
  return {
    turnIds,
    unknown: keys.length - turnIds.length,
    empty: named.filter((ids) => ids.length === 0).length,
  };
}

const filled = z.string().refine((value) => value.trim() !== '', 'a text that is not empty');

// What is not named here is not read: observations, summaries and events of LoCoMo are written by a language model.
const turn = z.object({
  speaker: filled,
  dia_id: id.refine((value) => parseDialogueKeys(value).length === 1, 'a dialogue id such as D3:7'),
  text: z.string().nullish(),
  blip_caption: z.string().nullish(),
});

const sessionTime = z.unknown().transform((value, context): number => {
  const time = typeof value === 'string' ? parseSessionTime(value) : null;
  if (time !== null) return time;
  context.addIssue({ code: 'custom', message: 'a time such as "1:56 pm on 8 May, 2023"' });
  return z.NEVER;
});

const question = z.object({
  question: filled,
  category: z.int().min(1).max(LOCOMO_CATEGORIES.length),
  evidence: z.array(z.string()).nullish(),
});

const sample = z.object({
  sample_id: id,
  conversation: z.record(z.string(), z.unknown()),
  qa: z.array(question).nullish(),
});

/** The part of a sample that holds its sessions, whose keys have numbers in them. */
function buildSessionsSchema(numbers: readonly number[]) {
  const fields = numbers.flatMap((number) => [
    [`session_${number}`, z.array(turn)],
    [`session_${number}_date_time`, sessionTime],
  ]);
  return z.object({ conversation: z.object(Object.fromEntries(fields)) });
}

export type LocomoTurn = z.output<typeof turn>;

interface LocomoSession {
  readonly number: number;
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly turns: readonly LocomoTurn[];
}

interface LocomoQuestion {
  readonly text: string;
  readonly category: LocomoCategory;
  readonly evidence: readonly string[];
}

/** A conversation with its questions, as the file has them. */
export interface LocomoSample {
  readonly id: string;
  /** By their numbers. */
  readonly sessions: readonly LocomoSession[];
  /** The number of times given for missing sessions. */
  readonly sparseTimes: number;
  readonly questions: readonly LocomoQuestion[];
}

const SHOWN = 20;

function parseSamplePart<S extends z.ZodType>(schema: S, input: unknown, where: string): z.output<S> {
  const result = check(schema, input);
  if ('value' in result) return result.value;
  const { faults } = result;
  const lines = faults.slice(0, SHOWN).map(({ path, expected, got }) => `  ${path}: expected ${expected}, got ${got}`);
  if (faults.length > SHOWN) lines.push(`  and ${faults.length - SHOWN} more`);
  throw new ValidationError(`${countErrors(faults.length)} in ${where}; correct and run again:\n${lines.join('\n')}`, {
    where,
    faults,
  });
}

function parseKeyNumbers(keys: readonly string[], pattern: RegExp): number[] {
  return keys.flatMap((key) => pattern.exec(key)?.[1] ?? []).map(Number);
}

/**
 * Reads one sample of a LoCoMo file.
 *
 * @param location the name of a sample without an id.
 * @throws ValidationError with the file, the sample, and each fault that it has.
 */
export function readSample(input: unknown, location: string, file: string): LocomoSample {
  const where = `sample ${parseOrNull(z.object({ sample_id: id }), input)?.sample_id ?? location} of ${file}`;
  const { sample_id, conversation, qa } = parseSamplePart(sample, input, where);
  const keys = Object.keys(conversation);
  const numbers = parseKeyNumbers(keys, /^session_(0|[1-9]\d*)$/).sort((a, b) => a - b);
  const timed = parseKeyNumbers(keys, /^session_(\d+)_date_time$/);
  const sessions = parseSamplePart(buildSessionsSchema(numbers), input, where).conversation as Record<string, unknown>;
  return {
    id: sample_id,
    sessions: numbers.map((number) => ({
      number,
      time: sessions[`session_${number}_date_time`] as number,
      turns: sessions[`session_${number}`] as LocomoTurn[],
    })),
    sparseTimes: timed.filter((number) => !numbers.includes(number)).length,
    questions: (qa ?? []).map(({ question: text, category, evidence }) => ({
      text,
      category: LOCOMO_CATEGORIES[category - 1] as LocomoCategory,
      evidence: evidence ?? [],
    })),
  };
}
