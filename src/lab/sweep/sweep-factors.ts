import { z } from 'zod';
import type { ConfigurationFault } from '../../core/errors/errors.ts';
import type { Random } from '../../core/numbers/random.ts';
import { check } from '../../core/validation/validation.ts';
import { type Layer, OWN_KEYS } from '../composition/arms.ts';
import { isPlain, type Path } from '../composition/config-file.ts';

const scalar = z.union([z.string().min(1), z.number(), z.boolean(), z.null()]);

/** Values that can be written in the name of an arm. */
const values = z.array(z.union([scalar, z.array(scalar)])).min(1);

const valueOptions = z.strictObject({ path: z.string(), values });

const rangeOptions = z
  .strictObject({
    path: z.string(),
    low: z.number(),
    high: z.number(),
    scale: z.enum(['linear', 'log']).default('linear'),
    integer: z.boolean().default(false),
  })
  .superRefine(({ low, high, scale, integer }, context) => {
    const addFactorIssue = (key: string, message: string) => context.addIssue({ code: 'custom', path: [key], message });
    if (high <= low) addFactorIssue('high', 'more than low');
    if (scale === 'log' && low <= 0) addFactorIssue('low', 'more than 0 on a scale of logarithms');
    for (const [key, end] of Object.entries({ low, high }))
      if (integer && !Number.isInteger(end)) addFactorIssue(key, 'a whole number, as the values are');
  });
type Range = z.output<typeof rangeOptions>;

const levelOptions = z
  .record(z.string().min(1), z.record(z.string(), z.unknown()))
  .refine((levels) => Object.keys(levels).length > 0, 'at least one level');

/** One of the settings of a factor. */
export interface Level {
  readonly name: string;
  readonly layer: Layer;
}

/** A factor of a sweep: settings to choose from, or an interval to draw from. */
export interface Factor {
  readonly name: string;
  /** Empty for an interval. */
  readonly levels: readonly Level[];
  readonly range: Range | null;
}

/** A value as a level's name: `0.3`, `cosine+bm25`, `none`. */
function formatLevelName(value: unknown): string {
  if (Array.isArray(value)) return value.map(formatLevelName).join('+') || 'none';
  return value === null ? 'none' : String(value);
}

const joinFactorPath = (...keys: readonly string[]) => ['sweep', 'factors', ...keys];

type Read = { readonly factor: Factor } | { readonly faults: readonly ConfigurationFault[] };

function readAs<S extends z.ZodType>(
  schema: S,
  name: string,
  raw: unknown,
  factor: (options: z.output<S>) => Omit<Factor, 'name'>,
): Read {
  const result = check(schema, raw);
  if ('value' in result) return { factor: { name, ...factor(result.value) } };
  const keyPath = `sweep.factors.${name}`;
  const joinLevelPath = (path: string) =>
    path === '(top level)' ? keyPath : `${keyPath}${path.startsWith('[') ? '' : '.'}${path}`;
  return { faults: result.faults.map((fault) => ({ ...fault, path: joinLevelPath(fault.path) })) };
}

function buildValueLevels(name: string, path: string, list: readonly unknown[], within: readonly string[]): Level[] {
  return list.map((content, i) => ({
    name: formatLevelName(content),
    layer: { keyPath: joinFactorPath(name, ...within, String(i)), at: path.split('.'), content },
  }));
}

/**
 * A factor in one of its forms: `path: [values]`; `name: {path, values}`; `path: {low, high, scale, integer}`, also with a path beside a name of its own;
 * `name: {level: partial arm, ...}`.
 */
export function readFactor(name: string, raw: unknown): Read {
  if (Array.isArray(raw))
    return readAs(values, name, raw, (list) => ({ levels: buildValueLevels(name, name, list, []), range: null }));
  if (!isPlain(raw)) {
    const expected = 'a list of values, an interval from low to high, or levels by name';
    return { faults: [{ path: `sweep.factors.${name}`, expected, got: JSON.stringify(raw) ?? 'nothing' }] };
  }
  const written = { path: name, ...raw };
  if (Array.isArray(raw.values))
    return readAs(valueOptions, name, written, ({ path, values: list }) => ({
      levels: buildValueLevels(name, path, list, ['values']),
      range: null,
    }));
  if (typeof raw.low === 'number' || typeof raw.high === 'number')
    return readAs(rangeOptions, name, written, (range) => ({ levels: [], range }));
  return readAs(levelOptions, name, raw, (levels) => ({
    levels: Object.entries(levels).map(([level, content]) => ({
      name: level,
      layer: { keyPath: joinFactorPath(name, level), at: [], content },
    })),
    range: null,
  }));
}

/** Errors of the levels themselves, independent of the arm. */
export function findLevelFaults({ name, levels }: Factor): ConfigurationFault[] {
  const names = levels.map((level) => level.name);
  const twice = names.find((level, i) => names.indexOf(level) < i);
  const repeated =
    twice === undefined
      ? []
      : [{ path: `sweep.factors.${name}`, expected: 'levels that differ', got: `${JSON.stringify(twice)} twice` }];
  const own = levels.flatMap(({ layer: { keyPath, at, content } }) =>
    at.length > 0 || !isPlain(content)
      ? []
      : Object.keys(content)
          .filter((key) => OWN_KEYS.includes(key) && key !== 'tune')
          .map((key) => ({
            path: [...keyPath, key].join('.'),
            expected: 'options of an arm, whose name the sweep makes',
            got: `the key ${JSON.stringify(key)}`,
          })),
  );
  return [...repeated, ...own];
}

/** A number with as many digits as its name shows. */
function roundAsNamed(value: number, { low, high }: Range): number {
  return Math.min(high, Math.max(low, Number(value.toPrecision(4))));
}

/** A number of an interval: uniform, or with a uniform logarithm. */
function drawNumber(range: Range, stream: Random): number {
  const { low, high, scale, integer } = range;
  const top = integer ? high + 1 : high; // whole numbers are rounded down, so that each is met equally often
  const share = stream.uniform();
  const drawn = scale === 'log' ? low * (top / low) ** share : low + (top - low) * share;
  return integer ? Math.min(high, Math.floor(drawn)) : roundAsNamed(drawn, range);
}

function buildNumberLevel(content: number, path: string, keyPath: Path): Level {
  return { name: formatLevelName(content), layer: { keyPath, at: path.split('.'), content } };
}

/** One setting of a factor at random. */
export function drawLevel({ name, levels, range }: Factor, stream: Random): Level {
  if (range === null) return levels[stream.integer(levels.length)] as Level;
  return buildNumberLevel(drawNumber(range, stream), range.path, joinFactorPath(name));
}

/** The smallest and the largest setting of an interval; none for other factors. */
export function listIntervalEnds({ name, range }: Factor): Level[] {
  if (range === null) return [];
  return (['low', 'high'] as const).map((end) => buildNumberLevel(range[end], range.path, joinFactorPath(name, end)));
}

/** The number of settings; infinity for an interval of real numbers. */
export function countLevels({ levels, range }: Factor): number {
  if (range === null) return levels.length;
  return range.integer ? range.high - range.low + 1 : Number.POSITIVE_INFINITY;
}
