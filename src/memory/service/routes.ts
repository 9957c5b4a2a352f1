import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import { ConfigurationError, RecordNotFoundError } from '../../core/errors/errors.ts';
import { isSensitive } from '../../model/turns/memory-fields.ts';
import type { MemoryRecord } from '../../model/turns/turn.ts';
import type { AddedRecord, Memory } from '../engine/memory.ts';
import { armQuestionSchema, queryBundleSchema } from '../engine/query-response.ts';
import { RowFault, readRecordRow } from '../store/record-row.ts';
import { MEMORY_TOOLS, type ToolSetting } from './tools.ts';

/** A request, read. */
export interface RouteRequest {
  readonly body: unknown;
  /** The `:id` of the path. */
  readonly id: string;
}

/** A path of the service. */
export interface Route {
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly summary: string;
  /** null: no body. */
  readonly body: z.ZodType | null;
  readonly answer: z.ZodType;
  run(request: RouteRequest, setting: ToolSetting): Promise<object>;
}

/** The most rows of one request. */
export const MOST_ROWS = 10_000;

const name = z.string().min(1);
const row = z
  .looseObject({ id: name })
  .describe('a turn as in turns.jsonl, which has a text, or a record, which has a context; embedding may be missing');
const vector = z.array(z.number()).transform((values) => Float32Array.from(values));

const receipt = z.strictObject({
  ids: z.array(z.string()).describe('of the rows, in their order'),
  known: z.array(z.string()).describe('the ids that were there with the same content: nothing was written for them'),
  sequence: z.int().describe('a change of the memory at or after that of this request'),
  hash: z.string().describe('the running hash of the changes up to it'),
});
const shownRecord = z.looseObject({ id: z.string(), context: z.string().nullable(), withheld: z.boolean() });
const position = z.looseObject({ sequence: z.int() });

/** @throws ConfigurationError for a row that is no record. */
function readRow(written: unknown, path: string): AddedRecord {
  const record = readRecordRow(written);
  if (record instanceof RowFault)
    throw new ConfigurationError('body', [{ path, expected: 'a turn or a record', got: record.detail }]);
  const { embedding, ...fields } = record;
  return embedding === null ? fields : { ...fields, embedding };
}

/** True of a record with all that a row says. The vector of a row without one is not compared. */
function isSame(known: MemoryRecord, added: AddedRecord): boolean {
  const { stats: _, trajectory: __, ...fields } = added;
  return Object.entries(fields).every(([field, value]) => isDeepStrictEqual(known[field as keyof MemoryRecord], value));
}

/**
 * Adds rows. One whose id is there with the same content is not written again, so that a request may be repeated; with
 * other content it is a DuplicateRecordError, unless rows replace records.
 */
async function addRows(memory: Memory, rows: readonly AddedRecord[], replace: boolean): Promise<object> {
  const isKnown = (added: AddedRecord) => {
    const known = memory.get(added.id);
    return known !== null && isSame(known, added);
  };
  const known = new Set(rows.filter(isKnown).map(({ id }) => id));
  const left = rows.filter(({ id }) => !known.has(id));
  if (left.length > 0) await (replace ? memory.upsert(left) : memory.addBatch(left));
  return { ids: rows.map(({ id }) => id), known: [...known], ...memory.position };
}

/** A record without its vector; of a sensitive one no text and no attributes either. */
function showRecord(record: MemoryRecord): object {
  const { embedding: _, metadata, context, ...fields } = record;
  const withheld = isSensitive({ attributes: metadata });
  return { ...fields, context: withheld ? null : context, metadata: withheld ? {} : metadata, withheld };
}

/** @throws RecordNotFoundError. */
function getRecord(memory: Memory, id: string): MemoryRecord {
  const record = memory.get(id);
  if (record === null) throw new RecordNotFoundError('memory', id);
  return record;
}

const question = armQuestionSchema;
const explained = question.extend({ recordId: name.describe('the record whose place is to be explained') });
const asked = queryBundleSchema.extend({ embedding: vector });
const priors = z.strictObject({
  ids: z.array(name).max(MOST_ROWS),
  weights: z.array(z.number()).nullable().default(null),
});

/** Tools whose work is a path too. */
const TOOL_PATHS = { assemble: '/v1/assemble', forget: '/v1/forget' } as const;

const toolRoutes = Object.entries(TOOL_PATHS).map(([tool, path]): Route => {
  const { description, input, run } = MEMORY_TOOLS.find(
    (other) => other.name === tool,
  ) as (typeof MEMORY_TOOLS)[number];
  return {
    ...{ method: 'POST', path, summary: description, body: input, answer: z.looseObject({}) },
    run: ({ body }, setting) => run(body, setting),
  };
});

/** Every path but those of the service itself. */
export const ROUTES: readonly Route[] = [
  {
    ...{ method: 'POST', path: '/v1/records', summary: 'add a record or a turn', body: row, answer: receipt },
    run: ({ body }, { memory }) => addRows(memory, [readRow(body, '(top level)')], false),
  },
  {
    ...{ method: 'POST', path: '/v1/records/bulk', answer: receipt },
    summary: 'add rows, all or none; replace: true replaces records of the same ids',
    body: z.strictObject({ rows: z.array(row).max(MOST_ROWS), replace: z.boolean().default(false) }),
    run({ body }, { memory }) {
      const { rows, replace } = body as { readonly rows: readonly unknown[]; readonly replace: boolean };
      return addRows(
        memory,
        rows.map((written, i) => readRow(written, `rows[${i}]`)),
        replace,
      );
    },
  },
  {
    ...{ method: 'GET', path: '/v1/records/:id', summary: 'a record, without its vector', body: null },
    answer: shownRecord,
    run: async ({ id }, { memory }) => showRecord(getRecord(memory, id)),
  },
  {
    ...{ method: 'DELETE', path: '/v1/records/:id', summary: 'remove a record; /v1/forget leaves no trace of it' },
    ...{ body: null, answer: position.extend({ removed: z.boolean() }) },
    run: async ({ id }, { memory }) => ({ removed: await memory.remove(id), ...memory.position }),
  },
  {
    ...{ method: 'POST', path: '/v1/records/:id/outcome', summary: 'record an outcome that was observed of a record' },
    ...{ body: z.strictObject({ value: z.number() }), answer: z.looseObject({ count: z.int(), mean: z.number() }) },
    run: async ({ id, body }, { memory }) => ({ ...(await memory.updateStats(id, (body as { value: number }).value)) }),
  },
  {
    ...{ method: 'POST', path: '/v1/ask', summary: 'the ranking of the arm for a question, and the prior over it' },
    ...{ body: question, answer: z.looseObject({ arm: z.string(), sequence: z.int(), ranking: z.array(z.unknown()) }) },
    run: ({ body }, { memory }) => memory.ask(body as z.output<typeof question>),
  },
  {
    ...{ method: 'POST', path: '/v1/explain', summary: 'the place of a record in the answer to a question, by parts' },
    ...{ body: explained, answer: z.looseObject({ id: z.string(), rank: z.int().nullable() }) },
    async run({ body }, { memory }) {
      const { recordId, k: _, ...rest } = body as z.output<typeof explained>;
      getRecord(memory, recordId);
      const { ranking, arm, sequence, asOf } = await memory.ask(rest);
      const at = ranking.findIndex(({ id }) => id === recordId);
      const found = ranking[at];
      return {
        ...{ id: recordId, arm, sequence, asOf, of: ranking.length, rank: found === undefined ? null : at + 1 },
        ...(found !== undefined && { score: found.score, parts: found.parts }),
      };
    },
  },
  {
    ...{ method: 'POST', path: '/v1/query', summary: 'the records nearest to a vector, and the prior over them' },
    ...{ body: asked, answer: z.looseObject({ candidates: z.array(z.unknown()) }) },
    run: async ({ body }, { memory }) => ({ ...(await memory.query(body as Parameters<Memory['query']>[0])) }),
  },
  {
    ...{ method: 'POST', path: '/v1/priors', summary: 'the prior over the outcomes of some records', body: priors },
    answer: z.looseObject({ count: z.int() }),
    run: async ({ body }, { memory }) => {
      const { ids, weights } = body as z.output<typeof priors>;
      return {
        ...memory.computePriors(
          ids.map((id) => getRecord(memory, id)),
          weights,
        ),
      };
    },
  },
  ...toolRoutes,
  {
    ...{ method: 'GET', path: '/v1/stats', summary: 'counts of the memory', body: null },
    answer: position.extend({ size: z.int(), dimension: z.int() }),
    run: async (_, { memory }) => ({
      ...{ size: memory.size, dimension: memory.dimension, newestTime: memory.newestTime, indexes: memory.indexNames },
      ...{ conservation: memory.conservation.counts, warnings: memory.warnings, ...memory.position },
    }),
  },
];
