import type { Plain } from '../composition/config-file.ts';

/** Checks values by a JSON schema, as an editor does. */

type Bound =
  | 'minimum'
  | 'maximum'
  | 'exclusiveMinimum'
  | 'exclusiveMaximum'
  | 'minLength'
  | 'maxLength'
  | 'minItems'
  | 'maxItems';

/** The keywords that the schema uses; {@link listStrangeKeywords} has the others. */
export interface Schema extends Readonly<Partial<Record<Bound, number>>> {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly description?: string;
  readonly pattern?: string;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  /** A list of schemas is of the first items. */
  readonly items?: Schema | readonly Schema[];
  readonly additionalItems?: false;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
}

function typeOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value;
}

function fitsType(value: unknown, types: readonly string[]): boolean {
  return types.some((type) => (type === 'integer' ? Number.isInteger(value) : type === typeOf(value)));
}

/** The paths at which a value does not fit, by the rules of JSON Schema. */
export function listMisfits(value: unknown, rule: Schema, path = ''): string[] {
  const here = (isFine: boolean) => (isFine ? [] : [path]);
  /** Prefers an alternative of the right type, then the one with the fewest misfits, as an editor does. */
  const rank = (misfits: readonly string[]) => misfits.length + (misfits.includes(path) ? 1000 : 0);
  const found = [
    ...here(rule.type === undefined || fitsType(value, [rule.type].flat())),
    ...here(rule.enum === undefined || rule.enum.includes(value)),
    ...here(rule.const === undefined || rule.const === value),
  ];
  if (rule.anyOf !== undefined) {
    const misfits = rule.anyOf.map((one) => listMisfits(value, one, path));
    if (misfits.every((list) => list.length > 0))
      found.push(...(misfits.toSorted((a, b) => rank(a) - rank(b))[0] ?? []));
  }
  for (const one of rule.allOf ?? []) found.push(...listMisfits(value, one, path));
  if (typeof value === 'number')
    found.push(
      ...here(
        value >= (rule.minimum ?? -Infinity) &&
          value <= (rule.maximum ?? Infinity) &&
          value > (rule.exclusiveMinimum ?? -Infinity) &&
          value < (rule.exclusiveMaximum ?? Infinity),
      ),
    );
  if (typeof value === 'string')
    found.push(
      ...here(
        new RegExp(rule.pattern ?? '', 'u').test(value) &&
          value.length >= (rule.minLength ?? 0) &&
          value.length <= (rule.maxLength ?? Infinity),
      ),
    );
  if (Array.isArray(value)) {
    found.push(...here(value.length >= (rule.minItems ?? 0) && value.length <= (rule.maxItems ?? Infinity)));
    for (const [i, item] of value.entries()) {
      const one = [rule.items ?? {}].flat()[Array.isArray(rule.items) ? i : 0];
      if (one !== undefined) found.push(...listMisfits(item, one, `${path}[${i}]`));
      else if (rule.additionalItems === false) found.push(`${path}[${i}]`);
    }
  } else if (typeOf(value) === 'object') found.push(...listMisfitKeys(value as Plain, rule, path));
  return found;
}

function listMisfitKeys(
  value: Plain,
  { properties = {}, required = [], additionalProperties = true }: Schema,
  path: string,
) {
  const missing = required.filter((key) => !Object.hasOwn(value, key)).map((key) => `${path}.${key}`);
  const inner = Object.entries(value).flatMap(([key, child]) => {
    const rule = Object.hasOwn(properties, key) ? properties[key] : additionalProperties;
    if (rule === false) return [`${path}.${key}`];
    return rule === true || rule === undefined ? [] : listMisfits(child, rule, `${path}.${key}`);
  });
  return [...missing, ...inner];
}

/** Every key of a schema with its rule, by path. */
export function listRules(rule: Schema, path = ''): [string, Plain][] {
  const inner = [...(rule.anyOf ?? []), ...[rule.items ?? []].flat()].flatMap((one) => listRules(one, path));
  const values = typeof rule.additionalProperties === 'object' ? listRules(rule.additionalProperties, path) : [];
  const own = Object.entries(rule.properties ?? {}).flatMap(([key, child]): [string, Plain][] => [
    [`${path}.${key}`, child as Plain],
    ...listRules(child, `${path}.${key}`),
  ]);
  return [...own, ...inner, ...values];
}
/** Keywords of a schema that {@link listMisfits} does not know. */
export function listStrangeKeywords(schema: Schema): string[] {
  const known = new Set(
    (
      'type properties required additionalProperties items anyOf enum const minimum maximum exclusiveMinimum exclusiveMaximum ' +
      'allOf additionalItems minLength maxLength minItems maxItems pattern default description title $schema propertyNames'
    ).split(' '),
  );
  const strange = new Set<string>();
  const visit = (rule: unknown, isMapping = false): void => {
    if (typeof rule !== 'object' || rule === null) return;
    for (const [key, child] of Object.entries(rule)) {
      if (!isMapping && !Array.isArray(rule) && !known.has(key)) strange.add(key);
      if (!['default', 'enum', 'const', 'required', 'propertyNames'].includes(key) || isMapping)
        visit(child, !isMapping && key === 'properties');
    }
  };
  visit(schema);
  return [...strange];
}
