import { ValidationError } from '../../core/errors.ts';
import type { Dataset } from '../../model/dataset.ts';
import { ATTRIBUTE_SIGNALS } from '../../signals/bank/attributes.ts';
import type { ArmOptions } from '../config/config.ts';

/** A part of an arm, the attribute that it reads, and the setting that omits it. */
interface AttributeReader {
  readonly part: string;
  readonly attribute: string;
  readonly remedy: string;
}

function listReaders({ boosts, scoring }: ArmOptions): AttributeReader[] {
  const boosted = (boosts ?? []).map(({ attribute }) => ({
    part: `boost of ${attribute}`,
    attribute,
    remedy: 'remove it from boosts',
  }));
  const scored = Object.keys(ATTRIBUTE_SIGNALS)
    .filter((name) => (scoring?.weights[name] ?? 0) !== 0)
    .map((name) => ({
      part: `scoring signal ${name}`,
      attribute: name,
      remedy: 'remove its weight from scoring.weights',
    }));
  return [...boosted, ...scored];
}

/** The names of the attributes that some turn has. */
function listAttributes({ corpus }: Dataset): ReadonlySet<string> {
  const names = new Set<string>();
  for (const { attributes } of corpus.turns) for (const name of Object.keys(attributes ?? {})) names.add(name);
  return names;
}

/** @throws ValidationError for an arm that reads an attribute which no turn has, naming the arm, the attribute and what to do. */
export function assertArmAttributes(dataset: Dataset, arms: readonly ArmOptions[]): void {
  const readers = arms.flatMap((arm) => listReaders(arm).map((reader) => ({ ...reader, arm: arm.name })));
  if (readers.length === 0) return;
  const known = listAttributes(dataset);
  const missing = readers.filter(({ attribute }) => !known.has(attribute));
  if (missing.length === 0) return;
  const parts = missing.map(({ arm, part }) => `${part} of arm ${arm}`);
  const remedies = [...new Set(missing.map(({ remedy }) => remedy))];
  const have = known.size === 0 ? 'no turn has an attribute' : `turns have ${[...known].sort().join(', ')}`;
  throw new ValidationError(
    `dataset ${dataset.name} has no attribute for ${parts.join('; ')}: ${have}; ${remedies.join('; ')}, or add the attribute to the turns`,
    { dataset: dataset.name, missing: missing.map(({ arm, attribute }) => ({ arm, attribute })) },
  );
}
