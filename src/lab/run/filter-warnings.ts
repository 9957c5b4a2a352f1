import { findNearestWord } from '../../core/validation/validation.ts';
import type { Dataset } from '../../model/dataset.ts';
import { isOwnField, listFilterFields } from '../../model/filter/filter.ts';
import { parseFilter } from '../../model/filter/parse-filter.ts';
import type { ArmOptions } from '../config/arm-options.ts';
import type { ProtocolWarning } from '../measure/result.ts';
import { describeWarning } from '../measure/warning.ts';
import { listAttributes, listFilterTexts } from './needed-attributes.ts';

function describeUnknown(field: string, known: ReadonlySet<string>): string {
  const nearest = findNearestWord(field, [...known]);
  return nearest === undefined ? field : `${field} (did you mean ${nearest}?)`;
}

/**
 * A warning for each arm whose filter reads an attribute that no turn has. It is no error: data without a turn that is marked as sensitive is no fault.
 * Null controls and repetitions have the filter of the arm that they repeat.
 */
export function findFilterWarnings(arms: readonly ArmOptions[], dataset: Pick<Dataset, 'corpus'>): ProtocolWarning[] {
  const filtered = arms.filter(
    (arm) => arm.control === null && arm.repeats === null && listFilterTexts(arm).length > 0,
  );
  if (filtered.length === 0) return [];
  const known = listAttributes(dataset);
  return filtered.flatMap((arm) => {
    const fields = listFilterTexts(arm).flatMap((text) => listFilterFields(parseFilter(text)));
    const unknown = fields.filter((field) => !isOwnField(field) && !known.has(field));
    if (unknown.length === 0) return [];
    const listed = unknown.map((field) => describeUnknown(field, known)).join(', ');
    const text = `the filter reads attributes that no turn has and that are null: ${listed}; correct the filter, or add them to the turns`;
    return [describeWarning('unknown-attribute', arm.name, text)];
  });
}
