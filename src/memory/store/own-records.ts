import { isTime } from '../../core/validation/validation.ts';
import {
  type Attributes,
  isStoredText,
  MEMORY_TYPES,
  parseRow,
  type RESERVED_ATTRIBUTES,
  TURN_FIELDS,
} from '../../model/turns/memory-fields.ts';
import {
  EMPTY_OUTCOME_STATISTICS,
  type MemoryRecord,
  type MemoryRecordInput,
  memoryRecordFields,
  memoryRecordSchema,
} from '../../model/turns/turn.ts';
import { SHARED_NUMBERS } from './operation.ts';

/** Larger texts, lists and objects are left to the schema, which has limits. */
const LONGEST_TEXT = 2 ** 20;
const MOST_ITEMS = 1000;

const RECORD_FIELDS = new Set(memoryRecordFields);
const NO_ATTRIBUTES: Attributes = Object.freeze({});

const isText = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= LONGEST_TEXT && isStoredText(value);
const isName = (value: unknown): value is string => value !== '' && isText(value);
const isBoolean = (value: unknown): value is boolean => typeof value === 'boolean';
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);

/** A whole number within 2^53 - 1, or another finite one. */
const isNumber = (value: unknown): value is number =>
  Number.isSafeInteger(value) || (Number.isFinite(value) && !Number.isInteger(value));

/** True if the schema surely accepts the value of an attribute. */
const isValue = (value: unknown): boolean => isText(value) || isNumber(value) || isBoolean(value) || isTexts(value);
/** The same for each reserved attribute. */
const RESERVED: Readonly<Record<(typeof RESERVED_ATTRIBUTES)[number], (value: unknown) => boolean>> = {
  outcome: () => false, // is a field of the record
  importance: (value) => isNumber(value) && value >= 0 && value <= 1,
  // A type that has fields of its own is left to the schema.
  memoryType: (value) =>
    isText(value) && (value === 'episodic' || !(MEMORY_TYPES as readonly string[]).includes(value)),
  source: isText,
  phase: isText,
  userId: isText,
  entities: isTexts,
  useCount: (value) => Number.isSafeInteger(value) && (value as number) >= 0,
  sensitive: isBoolean,
};
const CHECKS = new Map<string, (value: unknown) => boolean>([
  ...Object.entries(RESERVED),
  ...[...TURN_FIELDS, '__proto__', ''].map((name) => [name, () => false] as const),
]);

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

/** A copy of attributes; null for those that only the schema can judge. */
function copyAttributes(input: unknown): Attributes | null {
  if (input === undefined) return NO_ATTRIBUTES;
  if (!isPlain(input)) return null;
  const keys = Reflect.ownKeys(input);
  if (keys.length === 0) return NO_ATTRIBUTES;
  if (keys.length > MOST_ITEMS) return null;
  const copy: Record<string, Attributes[string]> = {};
  for (const key of keys) {
    if (!isText(key) || !Object.prototype.propertyIsEnumerable.call(input, key)) return null;
    const value = input[key];
    if (Array.isArray(value) && value.length > MOST_ITEMS) return null;
    const own = Array.isArray(value) ? Array.from(value as unknown[]) : value;
    if (!(CHECKS.get(key) ?? isValue)(own)) return null;
    copy[key] = own as Attributes[string];
  }
  return copy;
}

function hasOnlyFields(input: object): boolean {
  for (const key in input) if (!RECORD_FIELDS.has(key)) return false;
  return true;
}

/**
 * What the schema of a record makes of the most common inputs, in a twentieth of its time: plain objects without a
 * trajectory or statistics, whose texts are short. The vector is that of the input.
 *
 * @returns null for any other input, be it wrong or not: the schema judges it.
 */
export function readPlainRecord(input: unknown): MemoryRecord | null {
  if (!isPlain(input) || !hasOnlyFields(input)) return null;
  const { id, embedding, context, outcome = null, metadata, createdAt } = input;
  const { stats = EMPTY_OUTCOME_STATISTICS, trajectory = null } = input;
  const { conversationId = id, parentId = null, author = null, channel = null } = input;
  if (!isName(id) || !(embedding instanceof Float32Array) || !isText(context) || !isTime(createdAt)) return null;
  if ((outcome !== null && !isNumber(outcome)) || stats !== EMPTY_OUTCOME_STATISTICS || trajectory !== null)
    return null;
  if (!isName(conversationId) || (parentId !== null && !isName(parentId))) return null;
  if ((author !== null && !isText(author)) || (channel !== null && !isText(channel))) return null;
  const attributes = copyAttributes(metadata);
  if (attributes === null) return null;
  return {
    id,
    embedding,
    context,
    outcome,
    metadata: attributes,
    createdAt,
    stats: EMPTY_OUTCOME_STATISTICS,
    trajectory,
    conversationId,
    parentId,
    author,
    channel,
  };
}

/** A copy that the caller may keep. */
export function copyRecord(record: MemoryRecord): MemoryRecord {
  return Object.freeze({ ...record, embedding: record.embedding.slice() });
}

/** Copies vectors. Those that follow each other are views of one array of at most {@link SHARED_NUMBERS}. */
function copyVectors(vectors: readonly Float32Array[]): Float32Array[] {
  let left = vectors.reduce((sum, { length }) => sum + length, 0);
  let shared = new Float32Array(0);
  let at = 0;
  return vectors.map((vector) => {
    if (at + vector.length > shared.length) {
      shared = new Float32Array(Math.min(left, Math.max(SHARED_NUMBERS, vector.length)));
      at = 0;
    }
    const copy = shared.subarray(at, at + vector.length);
    copy.set(vector);
    at += vector.length;
    left -= vector.length;
    return copy;
  });
}

function parseRecord(input: MemoryRecordInput, i: number): MemoryRecord {
  const plain = readPlainRecord(input);
  if (plain !== null) return plain;
  const id = (input as { id?: unknown } | null)?.id;
  return parseRow(memoryRecordSchema, input, typeof id === 'string' ? `record ${id}` : `record at ${i}`);
}

/**
 * Records of the store's own: the caller may change what was passed, of which nothing is shared.
 *
 * @throws ConfigurationError.
 */
export function parseRecords(inputs: readonly MemoryRecordInput[]): MemoryRecord[] {
  const parsed = inputs.map(parseRecord);
  const vectors = copyVectors(parsed.map(({ embedding }) => embedding));
  for (const [i, record] of parsed.entries()) (record as { embedding: Float32Array }).embedding = vectors[i]!;
  return parsed;
}
