import { ValidationError } from '../../core/errors/errors.ts';
import { suggestKnown } from '../../core/validation/validation.ts';
import { translateMetric } from '../../eval/metrics/metric.ts';
import type { RunSummary } from './run-summary.ts';

const OPERATORS = ['!=', '>=', '<=', '=', '<', '>', '~'] as const;

/** One condition on a row's field. `~` holds if the field contains the text, ignoring case. */
export interface Condition {
  readonly field: string;
  readonly operator: (typeof OPERATORS)[number];
  readonly value: string;
}

/**
 * Reads `experiment=quickstart`, `mrr@10>=0.5`, `arm~decay`. The first operator that is not in brackets counts, so a
 * value may hold any character.
 *
 * @throws ValidationError for a text without an operator or without a field.
 */
export function parseCondition(text: string): Condition {
  const found = /^((?:\([^)]*\)|\((?![^)]*\))|[^(])+?)(!=|>=|<=|=|<|>|~)(.*)$/s.exec(text);
  if (found === null)
    throw new ValidationError(
      `not a condition: ${text}; write <field><operator><value> with one of ${OPERATORS.join(' ')}`,
      {
        text,
      },
    );
  const [, field = '', operator = '=', value = ''] = found;
  return { field: field.trim(), operator: operator as Condition['operator'], value: value.trim() };
}

/** Operators that ask which of two values is greater. */
const ORDERINGS: readonly string[] = ['<', '<=', '>', '>='];

/**
 * Throws for a condition that no row can meet: an order comparison with a value that is not a number, such as
 * `mrr@10>=` or `mrr@10>=0,5`.
 *
 * @throws ValidationError.
 */
export function assertOrderable({ field, operator, value }: Condition, rows: readonly ResultRow[]): void {
  if (!ORDERINGS.includes(operator)) return;
  const isNumeric = rows.some((row) => typeof row.get(field) === 'number');
  if (value === '' || (isNumeric && Number.isNaN(Number(value))))
    throw new ValidationError(
      `condition on ${field} has no ${isNumeric ? 'number' : 'value'}: ${field}${operator}${value}; compare with ${isNumeric ? 'a number such as 0.5' : 'a value'}`,
      { field, operator, value },
    );
}

/** True if a row meets a condition. A missing field meets only `!=`; numbers are compared as numbers if both are. */
export function meetsCondition(row: ResultRow, { field, operator, value }: Condition): boolean {
  const held = row.get(field) ?? null;
  if (operator === '!=') return held === null || !isFieldEqual(held, value);
  if (held === null) return false;
  if (operator === '=') return isFieldEqual(held, value);
  if (operator === '~') return String(held).toLowerCase().includes(value.toLowerCase());
  const order = compareFields(held, typeof held === 'number' ? Number(value) : value);
  return { '<': order < 0, '<=': order <= 0, '>': order > 0, '>=': order >= 0 }[operator];
}

function isFieldEqual(held: Field, value: string): boolean {
  return typeof held === 'number' && value !== '' ? held === Number(value) : String(held) === value;
}

/** Numbers by size, texts by their characters; missing values come last. NaN is neither below nor above anything. */
function compareFields(a: Field, b: Field): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null);
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  return String(a) < String(b) ? -1 : String(a) > String(b) ? 1 : 0;
}

/**
 * Rows by a field: numbers from the greatest, texts from the first; a minus before the field turns that round. Rows
 * without it come last either way, equal ones stay in their order.
 *
 * @throws ValidationError for a field that no row has.
 */
export function sortRowsByField(rows: readonly ResultRow[], by: string): ResultRow[] {
  const turned = by.startsWith('-');
  const field = turned ? by.slice(1) : by;
  assertFields([field], rows);
  const getRowValue = (row: ResultRow) => row.get(field) ?? null;
  const isNumber = rows.some((row) => typeof getRowValue(row) === 'number');
  const sign = isNumber === turned ? 1 : -1;
  return rows.toSorted((a, b) => {
    const [first, second] = [getRowValue(a), getRowValue(b)];
    return first === null || second === null ? compareFields(first, second) : sign * compareFields(first, second);
  });
}

/**
 * A field by the name that rows have: `nDCG@10.low` is `ndcg@10.low`. A field that rows have, or that no metric
 * explains, stays as it is.
 *
 * @throws ValidationError for the name of a metric that means something else here.
 */
export function translateField(field: string, rows: readonly ResultRow[]): string {
  const isKnown = (name: string) => rows.some((row) => row.has(name));
  if (isKnown(field)) return field;
  const [, metric = field, part = ''] = /^(.*?)(\.(?:low|high|difference|p|verdict))?$/s.exec(field) ?? [];
  const own = `${translateMetric(metric) ?? metric}${part}`;
  return isKnown(own) ? own : field;
}

/** @throws ValidationError naming the first field that no row has, and the nearest that one has. */
export function assertFields(fields: readonly string[], rows: readonly ResultRow[]): void {
  const known = [...new Set(rows.flatMap((row) => [...row.keys()]))];
  const unknown = fields.find((field) => rows.length > 0 && !known.includes(field));
  if (unknown === undefined) return;
  const hint = suggestKnown(unknown, known);
  throw new ValidationError(`no run has the field: ${unknown}; use ${hint}`, { field: unknown });
}

/** A field of a row; null if missing. */
export type Field = string | number | boolean | null;

/** One arm of a stored run with all its values, by field name. */
export type ResultRow = ReadonlyMap<string, Field>;

/**
 * A row per arm, failed and stopped arms included. Metrics are named as in the config, with `.low`, `.high`, `.difference`, `.p` (corrected) and `.verdict`; levels of a sweep as
 * `level.<factor>`, what tuning chose as `tuned.<path>`.
 */
export function listResultRows(run: RunSummary): ResultRow[] {
  const common = runFields(run);
  const finished = run.arms.map((arm) => new Map([...common, ...listArmFields(arm, run)]));
  const failed = run.failures.map(
    ({ name, code, message }) =>
      new Map<string, Field>([...common, ['arm', name], ['status', 'failed'], ['message', `${code}: ${message}`]]),
  );
  const stopped = run.stopped.map(
    ({ name, queries, metric, mean }) =>
      new Map<string, Field>([
        ...common,
        ['arm', name],
        ['status', 'stopped'],
        ['message', `after ${queries} queries, ${metric} ${mean}`],
      ]),
  );
  return [...finished, ...failed, ...stopped];
}

function runFields({ folder, experiment, hash, queries, dataset, environment }: RunSummary): [string, Field][] {
  return [
    ['run', folder],
    ['experiment', experiment],
    ['hash', hash],
    ['dataset', dataset.name],
    ['split', dataset.split],
    ['data', dataset.hash],
    ['queries', queries],
    ['version', environment.version],
    ['commit', environment.commit],
    ['date', environment.date ?? null],
    ['backend', environment.backend],
    ['cpu', environment.machine.cpu],
    ['seed', environment.seed],
    ['command', environment.command],
  ];
}

function listArmFields(arm: RunSummary['arms'][number], { baseline, metrics }: RunSummary): [string, Field][] {
  return [
    ['arm', arm.name],
    ['status', 'finished'],
    ['baseline', arm.name === baseline],
    ['control', arm.control?.kind ?? null],
    ['unjudged', arm.holes],
    ...Object.entries(arm.levels ?? {}).map(([factor, level]): [string, Field] => [`level.${factor}`, level]),
    ...Object.entries(arm.tuned).map(([path, value]): [string, Field] => [`tuned.${path}`, toField(value)]),
    ...metrics.flatMap((metric) => listMetricFields(metric, arm)),
  ];
}

function listMetricFields(metric: string, arm: RunSummary['arms'][number]): [string, Field][] {
  const interval = arm.metrics[metric];
  const comparison = arm.comparisons?.[metric];
  if (interval === undefined) return [];
  return [
    [metric, interval.mean],
    [`${metric}.low`, interval.low],
    [`${metric}.high`, interval.high],
    [`${metric}.difference`, comparison?.difference.mean ?? null],
    [`${metric}.p`, comparison?.correctedP ?? null],
    [`${metric}.verdict`, comparison?.verdict ?? null],
  ];
}

function toField(value: unknown): Field {
  return typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? value
    : JSON.stringify(value);
}
