import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { parse } from '../../src/core/validation/validation.ts';
import { chooseSplitByHash } from '../../src/data/prepared/prepared.ts';
import { ZoneClock } from '../../src/model/text/times/calendar.ts';
import { EARLIEST_TIME, LATEST_TIME, type QueryTimeRange } from '../../src/model/text/times/question-times.ts';

/** A time on the wall: `2024-05-01` or `2024-05-01T18:00`. */
const wallTime = z.string().regex(/^\d{4}-\d\d-\d\d(?:T\d\d:\d\d)?$/);

const labelledQuestion = z.strictObject({
  id: z.string().min(1),
  text: z.string().min(1),
  askedAt: wallTime,
  timeZone: z.string().min(1),
  category: z.enum(['factual', 'procedural', 'exploratory', 'analytical']),
  entityFocused: z.boolean(),
  timeFocused: z.boolean(),
  procedural: z.boolean(),
  requiresDomainDb: z.boolean(),
  /** Ids of entities, in any order. */
  entities: z.array(z.string()),
  /** Mentions that several entities fit. */
  ambiguous: z.array(z.string()),
  /** From the first up to the second; null for a side that is open. */
  timeRange: z.tuple([wallTime.nullable(), wallTime.nullable()]).nullable(),
});
export type LabelledQuestion = z.output<typeof labelledQuestion>;

const labelledEntity = z.strictObject({ id: z.string(), name: z.string(), aliases: z.array(z.string()) });

function readLines<S extends z.ZodType>(path: string, schema: S): z.output<S>[] {
  const lines = readFileSync(path, 'utf8').trim().split('\n');
  return lines.map((line, i) => parse(schema, JSON.parse(line), `${path}:${i + 1}`));
}

/** The questions and entities of this folder. */
export function readLabelledQuestions(folder = import.meta.dirname) {
  return {
    questions: readLines(join(folder, 'questions.jsonl'), labelledQuestion),
    entities: readLines(join(folder, 'entities.jsonl'), labelledEntity),
  };
}

export const HALVES = ['dev', 'held out'] as const;
export type Half = (typeof HALVES)[number];

/** A question's half follows from its id alone. */
export function chooseHalf({ id }: { readonly id: string }): Half {
  return chooseSplitByHash(id) === 'dev' ? 'dev' : 'held out';
}

export const readWallTime = (wall: string) => Date.parse(wall.length === 10 ? `${wall}T00:00Z` : `${wall}Z`);

/** When a question is asked, in milliseconds UTC. */
export function computeTimestamp({ askedAt, timeZone }: LabelledQuestion): number {
  return ZoneClock.of(timeZone).findInstant(readWallTime(askedAt));
}

/** The labelled range in milliseconds UTC. */
export function computeLabelledRange({ timeRange, timeZone }: LabelledQuestion): QueryTimeRange | null {
  if (timeRange === null) return null;
  const findInstant = (wall: string) => ZoneClock.of(timeZone).findInstant(readWallTime(wall));
  const [start, end] = timeRange;
  return {
    start: start === null ? EARLIEST_TIME : findInstant(start),
    end: end === null ? LATEST_TIME : findInstant(end),
  };
}
