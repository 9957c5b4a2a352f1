import { z } from 'zod';
import { ConfigurationError, type ConfigurationFault } from '../../core/errors/errors.ts';
import { check } from '../../core/validation/validation.ts';

/** What a memory is: an event, a fact, a way to act, or the summary of several. */
export const MEMORY_TYPES = Object.freeze(['episodic', 'semantic', 'procedural', 'summary'] as const);
/** One of {@link MEMORY_TYPES}. */
export type MemoryType = (typeof MEMORY_TYPES)[number];

const text = z.string().regex(/\S/, 'a text that is not empty');

const fact = z.object({ subject: text, predicate: text, object: text, status: text });
const procedure = z.object({ trigger: text, action: text });
const summary = z.object({ scope: z.enum(['session', 'global']) });

/** A fact as a triple. `status` other than `active` takes the fact out of retrieval. */
export type FactFields = z.output<typeof fact>;
/** A way to act: when, and what then. */
export type ProcedureFields = z.output<typeof procedure>;
/** What a summary is of: one session, or everything. */
export type SummaryFields = z.output<typeof summary>;
/** The fields of a memory as attributes hold them: those of its type, no others. */
export type MemoryFields = Partial<FactFields & ProcedureFields & SummaryFields>;

/** Any field may be missing. */
const FIELDS: Readonly<Partial<Record<MemoryType, z.ZodObject>>> = {
  semantic: fact.partial(),
  procedural: procedure.partial(),
  summary: summary.partial(),
};

/** The names of the fields of every memory type. */
export const MEMORY_FIELDS: readonly string[] = Object.freeze(
  [fact, procedure, summary].flatMap(({ shape }) => Object.keys(shape)),
);

/** Which fields need which others: a fact has a whole triple or is a text, and an action needs its trigger. */
const NEEDED: readonly (readonly [field: string, others: readonly string[]])[] = [
  ['subject', ['predicate', 'object']],
  ['predicate', ['subject', 'object']],
  ['object', ['subject', 'predicate']],
  ['action', ['trigger']],
];

/** A turn, by its attributes alone. */
export interface Described {
  readonly attributes?: Readonly<Record<string, unknown>>;
}

/** The schema of the fields that a memory type has; others have none. */
function findSchema(memoryType: unknown): z.ZodObject | undefined {
  return Object.hasOwn(FIELDS, memoryType as string) ? FIELDS[memoryType as MemoryType] : undefined;
}

/**
 * What is wrong with attributes as the fields of a memory: of `semantic` the triple `subject`, `predicate`, `object`
 * and `status`, of `procedural` `trigger` and `action`, of `summary` `scope`. Attributes of another type, or of none,
 * may use these names freely.
 */
function listMemoryFaults(
  attributes: Readonly<Record<string, unknown>>,
): readonly { readonly field: string; readonly expected: string }[] {
  const schema = findSchema(attributes.memoryType);
  if (schema === undefined) return [];
  const { issues } = schema.safeParse(attributes).error ?? { issues: [] };
  const wrong = issues.map(({ path, message }) => ({ field: String(path[0]), expected: message }));
  const has = (name: string) => Object.hasOwn(schema.shape, name) && Object.hasOwn(attributes, name);
  const missing = new Map(
    NEEDED.filter(([field]) => has(field)).flatMap(([field, others]) =>
      others.filter((other) => !has(other)).map((other) => [other, `a text beside ${field}`] as const),
    ),
  );
  return [...wrong, ...Array.from(missing, ([field, expected]) => ({ field, expected }))];
}

/** The fields that a memory has beside its text, read from its attributes. A fact without a `status` is `active`. */
export function readMemoryFields({ attributes = {} }: Described): MemoryFields {
  const schema = findSchema(attributes.memoryType);
  if (schema === undefined) return {};
  const status = attributes.memoryType === 'semantic' ? { status: 'active' } : {};
  return { ...status, ...schema.parse(attributes) };
}

/** Whose later statement closes a fact: anybody's, or that of the author who stated it. */
export const FACT_CLOSERS = Object.freeze(['anyone', 'author'] as const);
/** One of {@link FACT_CLOSERS}. */
export type FactCloser = (typeof FACT_CLOSERS)[number];

/** The attribute `status` of a memory that another one has replaced, whatever its type. */
export const SUPERSEDED = 'superseded';

/**
 * True if a memory holds: it was not superseded, and if it is a fact its `status` is `active`. Other statuses of other
 * types have no meaning here.
 */
export function isActive({ attributes = {} }: Described): boolean {
  const { memoryType, status = 'active' } = attributes;
  return memoryType === 'semantic' ? status === 'active' : status !== SUPERSEDED;
}

/**
 * The text of a memory by its fields: `subject predicate object` of a fact, `trigger: action` of a procedure; null
 * where the fields make no text.
 */
export function buildMemoryText({ subject, predicate, object, trigger, action }: MemoryFields): string | null {
  if (subject !== undefined && predicate !== undefined && object !== undefined)
    return `${subject} ${predicate} ${object}`;
  return trigger !== undefined && action !== undefined ? `${trigger}: ${action}` : null;
}

/** What a memory is worth where nobody has said so, by its type. */
export const DEFAULT_IMPORTANCE = Object.freeze({
  episodic: 0.5,
  semantic: 0.5,
  procedural: 0.8,
  summary: 0.9,
} as const);

/** The attribute `importance`; without one .8 for a procedure, .9 for a summary, .5 for others. */
export function readImportance({ attributes = {} }: Described): number {
  const { importance, memoryType } = attributes;
  if (typeof importance === 'number') return importance;
  const isKnown = typeof memoryType === 'string' && Object.hasOwn(DEFAULT_IMPORTANCE, memoryType);
  return DEFAULT_IMPORTANCE[isKnown ? (memoryType as MemoryType) : 'episodic'];
}

/** The uses of a record, its attribute `useCount`, which the signal `reinforcement` reads; 0 if nobody has counted. */
export const readUseCount = ({ metadata }: { readonly metadata: Attributes }): number =>
  (metadata.useCount as number | undefined) ?? 0;

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

/** The value of a row that may be sensitive, as messages name it. */
const NOT_SHOWN = 'a value that is not shown, since the row may be sensitive';

/** A fault without the value. What is missing and the name of an unknown key are no values. */
function hideValue(fault: ConfigurationFault): ConfigurationFault {
  const { got, nearest: _, ...rest } = fault;
  const isShown = got === 'nothing' || got.startsWith('unknown key ');
  return isShown ? fault : { ...rest, got: NOT_SHOWN };
}

/** The `check` of core for rows of data: no fault of a row that may be sensitive has a value of it. */
export function checkRow<S extends z.ZodType>(schema: S, row: unknown): ReturnType<typeof check<S>> {
  const result = check(schema, row);
  if ('value' in result || !mayBeSensitive(row)) return result;
  return { faults: result.faults.map(hideValue) };
}

/**
 * The `parse` of core for rows of data.
 *
 * @throws ConfigurationError with every error, without values of a row that may be sensitive.
 */
export function parseRow<S extends z.ZodType>(schema: S, row: unknown, source: string): z.output<S> {
  const result = checkRow(schema, row);
  if ('faults' in result) throw new ConfigurationError(source, result.faults);
  return result.value;
}

/** A value of an attribute. Whole numbers are those of float64: from -(2^53 - 1) to 2^53 - 1. */
export type AttributeValue = string | number | boolean | readonly string[];

/** The attributes of a turn besides its own fields. A key that is missing has no value: there is no null. */
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
const attributeText = storedText;

/** True if {@link storedText} accepts a text. Takes no regular expression, which would take ten times as long. */
export const isStoredText = (value: string): boolean =>
  (value as string & { isWellFormed(): boolean }).isWellFormed() && !value.includes('\0');

const value = z.union(
  [attributeText, number, z.boolean(), z.array(attributeText)],
  'a text, a finite number, if whole within 2^53 - 1, a boolean or a list of texts',
);

/** Keys that the framework reads, each of one type. */
const reserved = {
  /** Success, as observed when the record was made; the first observation that priors pool. */
  outcome: z.number('a finite number'),
  importance: z.number().min(0).max(1),
  memoryType: attributeText,
  source: attributeText,
  phase: attributeText,
  userId: attributeText,
  entities: z.array(attributeText),
  /** The number of times that it was of use. */
  useCount: z.int('a whole number of uses').min(0),
  /** True if it may leave this machine. */
  sensitive: z.boolean(),
};

/** The names and types of the reserved attributes. */
export const RESERVED_ATTRIBUTES = Object.freeze(Object.keys(reserved)) as readonly (keyof typeof reserved)[];

const key = attributeText
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
