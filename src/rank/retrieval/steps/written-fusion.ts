import { z } from 'zod';
import { ConfigurationError } from '../../../core/errors/errors.ts';
import { check, parsePart } from '../../../core/validation/validation.ts';
import { FUSIONS } from '../../../ops/fusion/registry.ts';
import { relevanceFusionOptions } from '../relevance.ts';
import { type AddFault, addUnknownKey, withoutNulls } from './checks.ts';
import { fuse } from './fuse.ts';
import type { Outline, Step } from './step.ts';

/** The weight of a column in a fusion: `rest` is 1 without the others. */
type FusionWeight = number | 'rest';
/** `only: column`, or a method with its options and the weights of columns. */
type WrittenFusion = Readonly<Record<string, string | Readonly<Record<string, unknown>>>>;

/** Keys of fusions that the names of columns take the place of. */
const NAMED_BY_COLUMNS: readonly string[] = ['method', 'weights', 'alpha', 'theoreticalMinimum'];

const POOL_METHODS: readonly string[] = ['pool-rrf', 'pool-combsum'];
/** The names of the methods that the step `fuse` knows. */
export const listMethods = () => [...FUSIONS.names, ...POOL_METHODS];

/** The options of a method that are no weights. */
export function getMethodOptions(method: string): Readonly<Record<string, z.ZodType>> {
  const member = FUSIONS.find(method.replace(/^pool-/, '')) as { readonly options: z.ZodObject } | undefined;
  const all = Object.entries(member?.options.shape ?? {});
  return Object.fromEntries(all.filter(([key]) => !NAMED_BY_COLUMNS.includes(key))) as Record<string, z.ZodType>;
}

function takesWeights(method: string): boolean {
  const member = FUSIONS.find(method.replace(/^pool-/, '')) as { readonly options: z.ZodObject } | undefined;
  return member !== undefined && 'weights' in member.options.shape;
}

/** A fusion as written: the weights of columns by their names, and what is left of the options. */
function readFusion([method, written]: readonly [string, Readonly<Record<string, unknown>>]) {
  const own = Object.keys(getMethodOptions(method));
  const entries = Object.entries(withoutNulls(written));
  const weights = Object.fromEntries(entries.filter(([key]) => !own.includes(key))) as Record<string, FusionWeight>;
  return { options: Object.fromEntries(entries.filter(([key]) => own.includes(key))), weights };
}

/** The weights with the rest as a number, whatever their order. */
function resolveWeights(weights: Readonly<Record<string, FusionWeight>>): Record<string, number> {
  const given = Object.values(weights).filter((weight) => weight !== 'rest');
  const rest = given.sort((a, b) => b - a).reduce((left, weight) => left - weight, 1);
  return Object.fromEntries(Object.entries(weights).map(([name, weight]) => [name, weight === 'rest' ? rest : weight]));
}

export const fusionWeight = z.union([z.number().nonnegative(), z.literal('rest')]);

/** A fusion as a config writes it. */
export const fuseOptions = z
  .union([z.string().transform((method) => ({ [method]: {} })), z.record(z.string(), z.unknown())])
  .transform((written, context): WrittenFusion => {
    const entries = Object.entries(withoutNulls(written as Record<string, unknown>));
    const [[method, options] = ['', {}], ...others] = entries;
    const known = ['only', ...listMethods()];
    if (others.length > 0) context.addIssue({ code: 'custom', message: `one method: ${known.join(', ')}` });
    else if (!known.includes(method)) addUnknownKey(method, known, context);
    if (context.issues.length > 0) return z.NEVER;
    if (method === 'only') return { only: parsePart(z.string(), options, ['only'], context) };
    const parsed = parsePart(z.record(z.string(), z.unknown()), options ?? {}, [method], context);
    if (context.issues.length > 0) return z.NEVER;
    const { weights, options: own } = readFusion([method, parsed]);
    for (const [name, weight] of Object.entries(weights)) parsePart(fusionWeight, weight, [method, name], context);
    const values = Object.values(weights);
    if (values.filter((weight) => weight === 'rest').length > 1)
      context.addIssue({ code: 'custom', path: [method], message: 'the weight rest once at most' });
    if (!takesWeights(method) && values.some((weight) => weight !== 1))
      context.addIssue({
        code: 'custom',
        path: [method],
        message: `1 for each column, since ${method} has no weights`,
      });
    const full = { ...own, method, ...(takesWeights(method) && needsWeights(method) ? { weights: { a: 1 } } : {}) };
    const checked = parsePart(relevanceFusionOptions, full, [method], context) as Record<string, unknown>;
    if (context.issues.length > 0) return z.NEVER;
    return { [method]: { ...Object.fromEntries(Object.keys(own).map((key) => [key, checked[key]])), ...weights } };
  });

/** True if every column of a fusion needs a weight of its own. */
const needsWeights = (method: string) => method === 'convex' || method === 'weighted';

/** The step of a fusion that was checked. */
export function createFusion(written: WrittenFusion, { columns }: Outline): readonly Step[] {
  const [[method, options]] = Object.entries(written) as [[string, string | Readonly<Record<string, unknown>>]];
  if (typeof options === 'string') return [fuse({ columns: [options], fusion: null })];
  const { weights } = readFusion([method, options]);
  const named = Object.keys(weights).length > 0 ? Object.keys(weights) : [...columns.keys()];
  const resolved = resolveFusion([method, options]);
  if ('faults' in resolved) throw new ConfigurationError('the fusion of an arm', resolved.faults);
  return [fuse({ columns: named, fusion: named.length === 1 ? null : resolved.value })];
}

/** The options of a fusion with the weights of columns in their place, or what is wrong with them. */
function resolveFusion(written: readonly [string, Readonly<Record<string, unknown>>]) {
  const [method] = written;
  const { options, weights } = readFusion(written);
  const named = takesWeights(method) && Object.keys(weights).length > 0 ? { weights: resolveWeights(weights) } : {};
  return check(relevanceFusionOptions, { ...options, method, ...named });
}

/** Reports columns and weights that do not fit the steps before. */
export function checkFusion(written: WrittenFusion, { columns }: Outline, fault: AddFault): void {
  const [[method, options]] = Object.entries(written) as [[string, string | Readonly<Record<string, unknown>>]];
  const known = [...columns.keys()];
  const expected = `a column of the arm (${known.join(', ')})`;
  if (typeof options === 'string') {
    if (!columns.has(options)) fault(['only'], expected);
    return;
  }
  const { weights } = readFusion([method, options]);
  for (const name of Object.keys(weights)) if (!columns.has(name)) fault([method, name], expected);
  const resolved = resolveFusion([method, options]);
  for (const { path, expected: wanted } of 'faults' in resolved ? resolved.faults : []) {
    const [name, ...rest] = path
      .replace(/^weights\.?/, '')
      .split('.')
      .filter(Boolean);
    const isRest = name !== undefined && weights[name] === 'rest';
    const place = name === undefined ? [] : [name, ...rest];
    fault([method, ...place], isRest ? 'other weights whose sum is at most 1' : wanted);
  }
  if (needsWeights(method) && Object.keys(weights).length === 0)
    fault([method], `the weight of each column by its name (${known.join(', ')})`);
  const named = Object.keys(weights).length > 0 ? Object.keys(weights) : known;
  if (FUSIONS.find(method)?.fusesPool === true || POOL_METHODS.includes(method)) return;
  for (const name of named)
    if (columns.get(name)?.lists.length === 0)
      fault(
        [method],
        `columns of sources, whose lists ${method} fuses; ${name} is of none, or method pool-rrf or pool-combsum`,
      );
}
