import {
  ConfigurationError,
  type ConfigurationFault,
  InvalidFilterError,
  ValidationError,
} from '../../core/errors/errors.ts';
import { readTitle } from '../../index/graph/list-concepts.ts';
import type { Dataset } from '../../model/dataset.ts';
import { assertFilterNames } from '../../model/filter/filter.ts';
import { parseFilter } from '../../model/filter/parse-filter.ts';
import { readArm } from '../../rank/retrieval/written-steps.ts';
import type { ArmOptions } from '../config/config.ts';
import { joinExamples } from '../measure/warning.ts';

/** A part of an arm or a model, the attribute that it reads, and the setting that omits it. */
export interface AttributeReader {
  readonly part: string;
  /** `arm X` or `model X`. */
  readonly owner: string;
  readonly attribute: string;
  readonly remedy: string;
}

function listArmReaders(arm: ArmOptions): AttributeReader[] {
  const owner = `arm ${arm.name}`;
  return readArm(arm).steps.flatMap(({ attributes }) => attributes.map((read) => ({ ...read, owner })));
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

/** The filters of an arm, before the search and after it. */
export function listFilterTexts(arm: ArmOptions): string[] {
  const { view, poolFilters } = readArm(arm).outline;
  return [...(view.filter === null ? [] : [view.filter]), ...poolFilters];
}

/** @throws ConfigurationError for filters by an attribute that no turn has and that may be misspelt, with every arm. */
function assertFilters(dataset: Dataset, arms: readonly ArmOptions[]): void {
  const filters = arms.flatMap((arm) => {
    const { sources } = readArm(arm).outline;
    const own = sources.flatMap(({ index }) => ('filter' in index && index.filter ? [index.filter] : []));
    return [...listFilterTexts(arm), ...own].map((text) => ({ name: arm.name, text }));
  });
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
  for (const arm of arms) for (const step of readArm(arm).steps) step.assertData(dataset, `arm ${arm.name}`);
}
