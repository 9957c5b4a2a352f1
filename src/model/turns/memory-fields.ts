import { z } from 'zod';

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

const FIELDS: Readonly<Partial<Record<MemoryType, z.ZodObject>>> = { semantic: fact, procedural: procedure, summary };

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
interface Described {
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
export function listMemoryFaults(
  attributes: Readonly<Record<string, unknown>>,
): readonly { readonly field: string; readonly expected: string }[] {
  const schema = findSchema(attributes.memoryType);
  if (schema === undefined) return [];
  const { issues } = schema.partial().safeParse(attributes).error ?? { issues: [] };
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
  return { ...status, ...schema.partial().parse(attributes) };
}

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
