import { closest, distance } from 'fastest-levenshtein';
import { z } from 'zod';
import { ConfigurationError, type ConfigurationFault, LISTED_FAULTS, ValidationError } from '../errors/errors.ts';

/**
 * A schema whose choices may grow: it is built again after each change of them, and schemas that contain it follow. A
 * process adds choices before it parses what names them.
 *
 * @param build the schema of the choices that there are.
 * @param count how often they changed.
 */
export function createOpenSchema<S extends z.ZodType>(build: () => S, count: () => number): S {
  const outer = build();
  let built: { readonly count: number; readonly schema: S } | null = null;
  const current = () => {
    if (built?.count !== count()) built = { count: count(), schema: build() };
    return built.schema;
  };
  const parse: S['_zod']['parse'] = (payload, context) => current()._zod.run(payload, context);
  outer._zod.parse = parse;
  outer._zod.run = parse;
  // Hints for unknown keys and JSON schemas read these.
  for (const key of ['options', 'entries'])
    if (key in outer._zod.def)
      Object.defineProperty(outer._zod.def, key, { get: () => Reflect.get(current()._zod.def, key) as unknown });
  return outer;
}

/** Limits of a list, an object and a text from outside: above any file of data that is read. A schema may allow less. */
const INPUT_LIMITS = { items: 10_000_000, keys: 5_000_000, characters: 2 ** 27 } as const;

/** The first part of a value that is too large. */
interface Excess {
  readonly path: readonly PropertyKey[];
  readonly expected: string;
  readonly got: string;
}

/** Limits of a walk: no schema reads deeper, and what contains itself has no end. */
const [DEEPEST, MOST_VALUES] = [300, 20_000_000];

/** The size of a value from outside: of its lists, plain objects and texts, not of objects of a class. */
class InputSize {
  /** Values, those within values too. */
  count = 0;
  /** The first part that is too large. */
  excess: Excess | null = null;
  readonly #path: PropertyKey[] = [];

  constructor(input: unknown) {
    this.#measure(input);
  }

  #measure(value: unknown): void {
    this.count++;
    if (typeof value === 'string') this.#assert(value.length, 'characters');
    else if (value !== null && typeof value === 'object') this.#measureParts(value);
  }

  #assert(size: number, kind: keyof typeof INPUT_LIMITS): void {
    if (size <= INPUT_LIMITS[kind] || this.excess !== null) return;
    const expected = `at most ${INPUT_LIMITS[kind].toLocaleString('en-US')} ${kind}`;
    this.excess = { path: [...this.#path], expected, got: kind === 'keys' ? 'more' : size.toLocaleString('en-US') };
  }

  #measureParts(value: object): void {
    if (this.#path.length >= DEEPEST) return;
    if (Array.isArray(value)) {
      this.#assert(value.length, 'items');
      for (let i = 0; i < value.length && this.#isOpen(); i++) this.#measureAt(i, value[i]);
    } else if (Object.getPrototypeOf(value) === Object.prototype) {
      let keys = 0;
      for (const key in value) {
        this.#assert(++keys, 'keys');
        this.#assert(key.length, 'characters');
        if (!this.#isOpen()) break;
        // An accessor may give another value each time: the schema alone reads it, once.
        this.#measureAt(key, Object.getOwnPropertyDescriptor(value, key)?.value);
      }
    }
  }

  #measureAt(key: PropertyKey, value: unknown): void {
    if (typeof value === 'number') {
      this.count++;
      return;
    }
    this.#path.push(key);
    this.#measure(value);
    this.#path.pop();
  }

  #isOpen(): boolean {
    return this.excess === null && this.count < MOST_VALUES;
  }
}

type Path = readonly PropertyKey[];

/** Characters of a word or key; a longer one is shown by its beginning, and has no nearest known word. */
const LONGEST_WORD = 1000;

const shortenKey = (key: string) => (key.length > LONGEST_WORD ? `${key.slice(0, LONGEST_WORD)}...` : key);

/** `arms[3].decay.halfLifeHours` */
export function formatPath(path: Path): string {
  const text = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${shortenKey(String(key))}`)).join('');
  return text.replace(/^\./, '') || '(top level)';
}

/** Characters of a word that stands for the one known word that begins with it. */
const SHORTEST_START = 3;

/** The known word nearest to an unknown one, or undefined if none is near enough to be a typing error. */
export function findNearestWord(word: string, known: readonly string[]): string | undefined {
  if (known.length === 0 || word.length > LONGEST_WORD) return undefined;
  const start = word.toLowerCase();
  const longer = start.length < SHORTEST_START ? [] : known.filter((other) => other.toLowerCase().startsWith(start));
  if (longer.length === 1) return longer[0];
  const nearest = closest(word, known as string[]);
  const contains =
    nearest.toLowerCase().includes(word.toLowerCase()) || word.toLowerCase().includes(nearest.toLowerCase());
  return contains || distance(word, nearest) <= Math.max(2, Math.floor(word.length / 3)) ? nearest : undefined;
}

/** What to use instead of an unknown word, as a message ends: the nearest known word, or all of them if none is near. */
export function suggestKnown(word: string, known: readonly string[]): string {
  return findNearestWord(word, known) ?? `one of ${known.join(', ')}`;
}

/** A fault with the known word nearest to the unknown one, if one is near. */
export function withNearest(fault: ConfigurationFault, word: string, known: readonly string[]): ConfigurationFault {
  const nearest = findNearestWord(word, known);
  return nearest === undefined ? fault : { ...fault, nearest };
}

/** The value at a path; undefined if an object does not have the key itself. */
export function getValueAt(input: unknown, path: Path): unknown {
  let value = input;
  for (const key of path) {
    if (value === null || typeof value !== 'object' || !Object.hasOwn(value, key)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[key];
  }
  return value;
}

/** Characters of a value in a message, and with them the most parts of it that a message can show. */
const EXCERPT = 80;

/** The part of a value that an excerpt can show. @throws RangeError for a value that contains itself. */
function cutValue(value: unknown, above: readonly object[] = []): unknown {
  if (typeof value === 'string') return value.slice(0, EXCERPT + 1);
  if (typeof value === 'bigint') return `${value}n`;
  if (value === null || typeof value !== 'object' || above.length > EXCERPT) return value;
  if (above.includes(value)) throw new RangeError('a value that contains itself');
  const within = [...above, value];
  if (Array.isArray(value)) return value.slice(0, EXCERPT).map((item) => cutValue(item, within));
  const isPlain = Object.getPrototypeOf(value) === Object.prototype;
  if (!isPlain && !ArrayBuffer.isView(value)) return value;
  const parts: [string, unknown][] = [];
  for (const key in value) {
    if (parts.length > EXCERPT) break;
    parts.push([key.slice(0, EXCERPT + 1), cutValue((value as Record<string, unknown>)[key], within)]);
  }
  return Object.fromEntries(parts);
}

/** A value as JSON, cut to a length that fits a message; a value that contains itself by its kind. */
export function shortenToExcerpt(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value).slice(0, LONGEST_WORD);
  let json: string;
  try {
    json = JSON.stringify(cutValue(value)) ?? String(value);
  } catch {
    json = Object.prototype.toString.call(value);
  }
  return json.length > EXCERPT ? `${json.slice(0, EXCERPT - 3)}...` : json;
}

/** The schemas that may apply at a node: wrappers removed, and of a union the options that the input does not rule out. */
function unwrap(schema: z.core.$ZodType, input: unknown): z.core.$ZodType[] {
  const def = (schema as z.ZodType).def as {
    type: string;
    innerType?: z.core.$ZodType;
    options?: z.core.$ZodType[];
    discriminator?: string;
    in?: z.core.$ZodType;
  };
  if (def.innerType !== undefined) return unwrap(def.innerType, input);
  if (def.type === 'pipe' && def.in !== undefined) return unwrap(def.in, input);
  if (def.options === undefined) return [schema];
  const { discriminator } = def;
  const options = def.options.flatMap((option) => unwrap(option, input));
  if (discriminator === undefined) return options;
  const tag = (input as Record<string, unknown> | undefined)?.[discriminator];
  const fitting = options.filter(
    (option) => option instanceof z.ZodObject && (option.shape[discriminator] as z.ZodType).safeParse(tag).success,
  );
  return fitting.length > 0 ? fitting : options;
}

/**
 * Parses a part of a value whose schema depends on its name, within the transform of a larger schema: its faults stand at the place of the part, with the keys
 * that there may be.
 */
export function parsePart<S extends z.ZodType>(
  schema: S,
  value: unknown,
  prefix: readonly PropertyKey[],
  context: Pick<z.core.$RefinementCtx, 'issues'>,
): z.output<S> {
  const result = schema._zod.run({ value, issues: [] }, { async: false }) as z.core.ParsePayload<z.output<S>>;
  for (const issue of result.issues) {
    const path = issue.path ?? [];
    const known = issue.code === 'unrecognized_keys' ? { known: listKnownKeys(schema, value, path) } : {};
    context.issues.push({ ...known, ...issue, path: [...prefix, ...path] } as never);
  }
  return result.value;
}

/** The keys that an object at `path` may have. */
function listKnownKeys(schema: z.core.$ZodType, input: unknown, path: Path): string[] {
  let nodes = unwrap(schema, input);
  for (const [depth, key] of path.entries()) {
    const value = getValueAt(input, path.slice(0, depth + 1));
    nodes = nodes.flatMap((node) => {
      const child =
        node instanceof z.ZodObject
          ? node.shape[String(key)]
          : node instanceof z.ZodArray
            ? node.element
            : node instanceof z.ZodRecord
              ? node.valueType
              : undefined;
      return child === undefined ? [] : unwrap(child as z.core.$ZodType, value);
    });
  }
  return nodes.flatMap((node) => (node instanceof z.ZodObject ? Object.keys(node.shape) : []));
}

function describeExpectation(issue: z.core.$ZodIssue): { expected: string; choices: string[] } {
  const quoteChoices = (values: readonly unknown[]) => values.map((value) => JSON.stringify(value)).join(' or ');
  switch (issue.code) {
    case 'invalid_type':
      // A message that the schema gives replaces that of zod.
      return { expected: /^Invalid input\b/.test(issue.message) ? issue.expected : issue.message, choices: [] };
    case 'invalid_value':
      return { expected: quoteChoices(issue.values), choices: issue.values.map(String) };
    case 'too_small':
      return { expected: `${issue.origin} ${issue.inclusive ? '>=' : '>'} ${issue.minimum}`, choices: [] };
    case 'too_big':
      if (issue.origin === 'string') return { expected: `at most ${issue.maximum} characters`, choices: [] };
      return { expected: `${issue.origin} ${issue.inclusive ? '<=' : '<'} ${issue.maximum}`, choices: [] };
    case 'invalid_union': {
      const options = (issue as { options?: readonly unknown[] }).options;
      if (options !== undefined) return { expected: quoteChoices(options), choices: options.map(String) };
      if (issue.message !== 'Invalid input') return { expected: issue.message, choices: [] };
      return {
        expected: [...new Set(issue.errors.flat().map((inner) => describeExpectation(inner).expected))].join(' or '),
        choices: [],
      };
    }
    default:
      return { expected: issue.message.replace(/^Invalid input: expected /, ''), choices: [] };
  }
}

function convertIssue(schema: z.core.$ZodType, input: unknown, issue: z.core.$ZodIssue): ConfigurationFault[] {
  if (issue.code === 'unrecognized_keys') {
    const known = (issue as { known?: string[] }).known ?? listKnownKeys(schema, input, issue.path);
    const expected = `one of ${known.join(', ')}`;
    return issue.keys.slice(0, MOST_FAULTS).map((key) => {
      const path = formatPath([...issue.path, key]);
      const fault = { path, expected, got: `unknown key ${JSON.stringify(shortenKey(key))}` };
      return withNearest(fault, key, known);
    });
  }
  if (issue.code === 'invalid_key') {
    const expected = issue.issues.map((inner) => describeExpectation(inner).expected).join(' and ');
    return [
      { path: formatPath(issue.path), expected: `a key of ${expected}`, got: shortenToExcerpt(issue.path.at(-1)) },
    ];
  }
  const got = getValueAt(input, issue.path);
  const { expected, choices } = describeExpectation(issue);
  const fault = { path: formatPath(issue.path), expected, got: shortenToExcerpt(got) };
  return [typeof got === 'string' ? withNearest(fault, got, choices) : fault];
}

/** True if numbers sum to 1 within a tolerance; allows for rounding, as of 0.4 + 0.61 at a tolerance of 0.01. */
export function sumsToOne(numbers: readonly number[], tolerance: number): boolean {
  return Math.abs(numbers.reduce((sum, number) => sum + number, 0) - 1) <= tolerance + 1e-9;
}

/** One more than a message lists, so that it can say that there are more. */
const MOST_FAULTS = LISTED_FAULTS + 1;

/** In an input with more values a list ends at its first wrong item: to collect all errors takes longer than to read. */
const ALL_COLLECTED = 10_000;

/**
 * The errors of an input, up to one more than a message lists, or the parsed value. A list or text that is too large is
 * not read.
 */
export function check<S extends z.ZodType>(
  schema: S,
  input: unknown,
): { value: z.output<S> } | { faults: ConfigurationFault[] } {
  const { count, excess } = new InputSize(input);
  if (excess !== null) return { faults: [{ ...excess, path: formatPath(excess.path) }] };
  const context: z.core.ParseContextInternal = { async: false, abortEarly: count > ALL_COLLECTED };
  const result = schema._zod.run({ value: input, issues: [] }, context) as z.core.ParsePayload;
  if (result.issues.length === 0) return { value: result.value as z.output<S> };
  const faults: ConfigurationFault[] = [];
  for (const issue of result.issues.slice(0, MOST_FAULTS)) {
    faults.push(...convertIssue(schema, input, z.core.util.finalizeIssue(issue, context, z.core.config())));
    if (faults.length >= MOST_FAULTS) break;
  }
  return { faults: faults.slice(0, MOST_FAULTS) };
}

/** The value by its schema, within the limits of {@link check}; null if it does not fit. */
export function parseOrNull<S extends z.ZodType>(schema: S, input: unknown): z.output<S> | null {
  const result = check(schema, input);
  return 'value' in result ? result.value : null;
}

/** @throws ConfigurationError with each error: its path, the expected value, the value found, the nearest known key. */
export function parse<S extends z.ZodType>(schema: S, input: unknown, source: string): z.output<S> {
  const result = check(schema, input);
  if ('faults' in result) throw new ConfigurationError(source, result.faults);
  return result.value;
}

/** The value of a JSON text. @throws ValidationError with a message for a text that is none. */
export function parseJson(text: string, message: string, facts: Readonly<Record<string, unknown>>): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new ValidationError(message, facts, { cause: error });
  }
}

/** The farthest time from 1970, in milliseconds, that a date can be: 100 million days. */
const FARTHEST_TIME = 8.64e15;

/** True if a number of milliseconds since 1970 is a time. Nanoseconds of today are not. */
export function isTime(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= FARTHEST_TIME;
}
