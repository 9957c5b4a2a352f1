import { z } from 'zod';
import { ConfigurationError, type ConfigurationFault } from '../../core/errors/errors.ts';
import { check } from '../../core/validation/validation.ts';
import { listMemoryFaults } from './memory-fields.ts';

/** A mark other than `"sensitive": false`, also within a text of JSON, and wherever a malformed row has it. */
const MARK = /\bsensitive\b(?!\\*"\s*:\s*false\b)/i;

/** A malformed row may have its mark anywhere. */
function mayBeSensitive(row: unknown): boolean {
  try {
    return MARK.test(JSON.stringify(row, (_, item) => (typeof item === 'bigint' ? null : item)) ?? '');
  } catch {
    return true; // contains itself, or is too deep
  }
}

/** As messages name the value of a row that may be sensitive. */
const NOT_SHOWN = 'a value that is not shown, since the row may be sensitive';

/** A fault without the value. What is missing and the name of an unknown key are no values. */
function hideValue(fault: ConfigurationFault): ConfigurationFault {
  const { got, nearest: _, ...rest } = fault;
  const isShown = got === 'nothing' || got.startsWith('unknown key ');
  return isShown ? fault : { ...rest, got: NOT_SHOWN };
}

/** As `check` of core, for rows of data: no fault of a row that may be sensitive has a value of it. */
export function checkRow<S extends z.ZodType>(schema: S, row: unknown): ReturnType<typeof check<S>> {
  const result = check(schema, row);
  if ('value' in result || !mayBeSensitive(row)) return result;
  return { faults: result.faults.map(hideValue) };
}

/** As `parse` of core, for rows of data. @throws ConfigurationError with every error, without values of a row that may be sensitive. */
export function parseRow<S extends z.ZodType>(schema: S, row: unknown, source: string): z.output<S> {
  const result = checkRow(schema, row);
  if ('faults' in result) throw new ConfigurationError(source, result.faults);
  return result.value;
}

/** A value of an attribute. Whole numbers are those of float64: from -(2^53 - 1) to 2^53 - 1. */
export type AttributeValue = string | number | boolean | readonly string[];

/** What is known of a turn besides its own fields. A key that is missing has no value: there is no null. */
export type Attributes = Readonly<Record<string, AttributeValue>>;

/** True of a turn, a query or a record that must stay on this machine: its attribute `sensitive` is true. */
export function isSensitive({ attributes }: { readonly attributes?: Attributes }): boolean {
  return attributes?.sensitive === true;
}

/** The fields of a turn itself: no attribute may have their names, so that a filter needs no prefix. */
export const TURN_FIELDS = Object.freeze([
  'id',
  'conversationId',
  'parentId',
  'timestamp',
  'author',
  'channel',
  'text',
] as const);

const number = z
  .number('a finite number')
  .refine(
    (value) => !Number.isInteger(value) || Number.isSafeInteger(value),
    'a whole number within 2^53 - 1; write a larger one as a string',
  );

/** Half a surrogate pair has no UTF-8, so that no file could store it, and Postgres stores no U+0000. */
export const storedText = z.string().regex(/^[^\p{Cs}\0]*$/u, 'a text of well-formed Unicode without U+0000');
const text = storedText;

const value = z.union(
  [text, number, z.boolean(), z.array(text)],
  'a text, a finite number, if whole within 2^53 - 1, a boolean or a list of texts',
);

/** Keys that the framework reads, each of one type. */
const reserved = {
  /** Success, as observed when the record was made; the first observation that priors pool. */
  outcome: z.number('a finite number'),
  importance: z.number().min(0).max(1),
  memoryType: text,
  source: text,
  phase: text,
  userId: text,
  entities: z.array(text),
  /** How often it was of use. */
  useCount: z.int('a whole number of uses').min(0),
  /** True if it may leave this machine. */
  sensitive: z.boolean(),
};

/** The names and types of the reserved attributes. */
export const RESERVED_ATTRIBUTES = Object.freeze(Object.keys(reserved)) as readonly (keyof typeof reserved)[];

const key = text
  .min(1)
  .refine((name) => !(TURN_FIELDS as readonly string[]).includes(name), 'a key that is no field of a turn');

/** A record of zod leaves the key out, without a fault. */
const withoutProto = z.custom<object>(
  (input) => !(input !== null && typeof input === 'object' && Object.hasOwn(input, '__proto__')),
  'keys other than __proto__',
);

/** Attributes as they enter: keys that the framework reads have their type, others any value. */
export const attributesSchema = withoutProto.pipe(z.record(key, value)).superRefine((attributes, context) => {
  for (const [name, schema] of Object.entries(reserved)) {
    if (!Object.hasOwn(attributes, name)) continue;
    for (const issue of schema.safeParse(attributes[name]).error?.issues ?? [])
      context.addIssue({ ...issue, path: [name, ...issue.path] } as never);
  }
  for (const { field, expected } of listMemoryFaults(attributes))
    context.addIssue({ code: 'custom', message: expected, path: [field] });
}) as unknown as z.ZodType<Attributes>;
