import { closest, distance } from 'fastest-levenshtein';
import { z } from 'zod';
import { ConfigurationError, type ConfigurationFault } from './errors.ts';

type Path = readonly PropertyKey[];

/** `arms[3].decay.halfLifeHours` */
export function formatPath(path: Path): string {
  const text = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`)).join('');
  return text.replace(/^\./, '') || '(top level)';
}

/** The known word nearest to an unknown one, or undefined if none is near enough to be a typing error. */
export function findNearestWord(word: string, known: readonly string[]): string | undefined {
  if (known.length === 0) return undefined;
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

/** A value as JSON; whole numbers of any length too, and what contains itself by its kind. */
function formatValue(value: unknown): string {
  try {
    return JSON.stringify(value, (_, item) => (typeof item === 'bigint' ? `${item}n` : item)) ?? String(value);
  } catch {
    return Object.prototype.toString.call(value);
  }
}

/** A value as JSON, cut to a length that fits a message. */
export function shortenToExcerpt(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'number' || typeof value === 'bigint') return String(value);
  const json = formatValue(value);
  return json.length > 80 ? `${json.slice(0, 77)}...` : json;
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
      return { expected: issue.expected, choices: [] };
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
    const known = listKnownKeys(schema, input, issue.path);
    return issue.keys.map((key) => {
      const fault = {
        path: formatPath([...issue.path, key]),
        expected: `one of ${known.join(', ')}`,
        got: `unknown key ${JSON.stringify(key)}`,
      };
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

/** Whether numbers sum to 1 within a tolerance; allows for rounding, as of 0.4 + 0.61 at a tolerance of 0.01. */
export function sumsToOne(numbers: readonly number[], tolerance: number): boolean {
  return Math.abs(numbers.reduce((sum, number) => sum + number, 0) - 1) <= tolerance + 1e-9;
}

/** All errors of an input at once, or the parsed value. */
export function check<S extends z.ZodType>(
  schema: S,
  input: unknown,
): { value: z.output<S> } | { faults: ConfigurationFault[] } {
  const result = schema.safeParse(input);
  if (result.success) return { value: result.data };
  return { faults: result.error.issues.flatMap((issue) => convertIssue(schema, input, issue)) };
}

/** @throws ConfigurationError with every error, its path, the expected value, the value found, and the nearest known key. */
export function parse<S extends z.ZodType>(schema: S, input: unknown, source: string): z.output<S> {
  const result = check(schema, input);
  if ('faults' in result) throw new ConfigurationError(source, result.faults);
  return result.value;
}
