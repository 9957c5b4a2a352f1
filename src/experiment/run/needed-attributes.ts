import { ConfigurationError, type ConfigurationFault, InvalidFilterError, ValidationError } from '../../core/errors.ts';
import { readTitle } from '../../graph/turn-title.ts';
import type { AttributeValue } from '../../model/attributes.ts';
import type { Dataset } from '../../model/dataset.ts';
import { assertFilterNames } from '../../model/filter/filter-names.ts';
import { parseFilter } from '../../model/filter/parse-filter.ts';
import { ATTRIBUTE_SIGNALS } from '../../signals/bank/attributes.ts';
import { computeBoostFactor } from '../../signals/boost-factor.ts';
import type { ArmOptions } from '../config/config.ts';
import { joinExamples } from '../score/warning.ts';

/** A part of an arm or a model, the attribute that it reads, and the setting that omits it. */
export interface AttributeReader {
  readonly part: string;
  /** `arm X` or `model X`. */
  readonly owner: string;
  readonly attribute: string;
  readonly remedy: string;
}

function listArmReaders({ name, boosts, scoring }: ArmOptions): AttributeReader[] {
  const owner = `arm ${name}`;
  const boosted = (boosts ?? []).map(({ attribute }) => ({
    part: `boost of ${attribute}`,
    owner,
    attribute,
    remedy: 'remove it from boosts',
  }));
  const scored = Object.keys(ATTRIBUTE_SIGNALS)
    .filter((signal) => (scoring?.weights[signal] ?? 0) !== 0)
    .map((signal) => ({
      part: `scoring signal ${signal}`,
      owner,
      attribute: signal,
      remedy: 'remove its weight from scoring.weights',
    }));
  return [...boosted, ...scored];
}

/** The names of the attributes that some turn has. */
export function listAttributes({ corpus }: Pick<Dataset, 'corpus'>): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { attributes } of corpus.turns) for (const name of Object.keys(attributes ?? {})) names.add(name);
  return names;
}

/** @throws ValidationError for readers of an attribute which no turn has, naming the owner, the attribute and what to do. */
export function assertAttributesFor(dataset: Dataset, readers: readonly AttributeReader[]): void {
  if (readers.length === 0) return;
  const known = listAttributes(dataset);
  const missing = readers.filter(({ attribute }) => !known.has(attribute));
  if (missing.length === 0) return;
  const parts = missing.map(({ owner, part }) => `${part} of ${owner}`);
  const remedies = [...new Set(missing.map(({ remedy }) => remedy))];
  const have = known.size === 0 ? 'no turn has an attribute' : `turns have ${[...known].sort().join(', ')}`;
  throw new ValidationError(
    `dataset ${dataset.name} has no attribute for ${parts.join('; ')}: ${have}; ${remedies.join('; ')}, or add the attribute to the turns`,
    { dataset: dataset.name, missing: missing.map(({ owner, attribute }) => ({ owner, attribute })) },
  );
}

/** @throws ValidationError for a boost of a kind that its attribute does not have in some turn. */
function assertBoosts({ name, corpus }: Dataset, { name: arm, boosts }: ArmOptions): void {
  for (const boost of boosts ?? [])
    for (const { id, attributes = {} } of corpus.turns) {
      if (!Object.hasOwn(attributes, boost.attribute)) continue;
      const value = attributes[boost.attribute] as AttributeValue;
      computeBoostFactor(boost, value, `boost of ${boost.attribute} of arm ${arm}`, `turn ${id} of dataset ${name}`);
    }
}

/** @throws ValidationError for null controls that exchange titles, if the turns have fewer than two: each would be the arm that it controls. */
function assertTitles({ name, corpus }: Dataset, arms: readonly ArmOptions[]): void {
  const named = arms.filter(({ control }) => control?.kind === 'shuffled-titles').map((arm) => arm.name);
  if (named.length === 0) return;
  const titles = new Set(corpus.turns.map(readTitle).filter((title) => title !== null));
  if (titles.size >= 2) return;
  throw new ValidationError(
    `dataset ${name} has ${titles.size === 0 ? 'no title' : 'one title'}, and null control shuffled-titles exchanges the titles of its turns in ${named.length} arms (${joinExamples(named)}); leave this kind out, as in controls: [random-graph], or add the attribute title to the turns`,
    { dataset: name, arms: named },
  );
}

/** @throws ConfigurationError for filters by an attribute that no turn has and that may be misspelt, with every arm. */
function assertFilters(dataset: Dataset, arms: readonly ArmOptions[]): void {
  const filters = arms.flatMap(({ name, filter, candidates }) => [
    ...(filter ? [{ name, text: filter.where }] : []),
    ...candidates.flatMap((source) => ('filter' in source && source.filter ? [{ name, text: source.filter }] : [])),
  ]);
  if (filters.length === 0 || dataset.corpus.size === 0) return;
  const known = listAttributes(dataset);
  const faults = filters.flatMap(({ name, text }): ConfigurationFault[] => {
    try {
      assertFilterNames(parseFilter(text), known, `a turn of ${dataset.name}`);
      return [];
    } catch (error) {
      if (!(error instanceof InvalidFilterError)) throw error;
      const { expected, got, remedy } = error.fault;
      return [{ path: `filter of arm ${name}`, expected: `${expected}; ${remedy}`, got }];
    }
  });
  if (faults.length > 0) throw new ConfigurationError('filters', faults);
}

/** @throws ValidationError for an arm that reads an attribute which no turn has, boosts one of another kind, or exchanges titles that no turn has. */
export function assertArmAttributes(dataset: Dataset, arms: readonly ArmOptions[]): void {
  assertAttributesFor(dataset, arms.flatMap(listArmReaders));
  assertFilters(dataset, arms);
  assertTitles(dataset, arms);
  for (const arm of arms) assertBoosts(dataset, arm);
}
