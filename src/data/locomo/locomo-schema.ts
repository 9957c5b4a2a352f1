import { z } from 'zod';
import { countErrors, ValidationError } from '../../core/errors/errors.ts';
import { check, parseOrNull } from '../../core/validation/validation.ts';
import { id } from '../jsonl/id-schema.ts';
import { LOCOMO_CATEGORIES, type LocomoCategory } from '../prepared/datasets.ts';
import { parseDialogueKeys } from './locomo-evidence.ts';
import { parseSessionTime } from './locomo-time.ts';

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
