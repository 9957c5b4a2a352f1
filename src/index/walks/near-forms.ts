import { ValidationError } from '../../core/errors/errors.ts';
import { gatherRows } from '../../core/tensors/rows.ts';
import type { ConceptVectors } from '../candidates/index-definition.ts';
import type { NearForms } from '../graph/concept-graph.ts';
import { haveSameNumbers, splitFormWords } from '../graph/matching-words.ts';
import { type ConceptVectorOptions, needsConceptVectors } from './graph-options.ts';

/**
 * Earlier forms near each form by the cosine of their vectors, with the same numbers; at most 10, as of similar turns.
 *
 * @param listed [turns] concepts in the order of their mentions.
 * @throws ValidationError where the options ask for vectors and there are none.
 */
export async function findNearForms(
  listed: readonly (readonly string[])[],
  conceptVectors: ConceptVectors | undefined,
  options: ConceptVectorOptions,
): Promise<NearForms> {
  if (!needsConceptVectors(options)) return new Map();
  if (conceptVectors === undefined)
    throw new ValidationError(
      'index graph compares vectors of concepts: none given; pass conceptVectors, or aliasCosine: null',
    );
  const { names, vectors, dimension } = conceptVectors;
  const nodeOf = new Map(names.map((name, node) => [name, node]));
  const forms = [...new Set(listed.flat())].filter((form) => nodeOf.has(form));
  const rows = gatherRows(
    vectors,
    dimension,
    forms.map((form) => nodeOf.get(form)!),
  );
  const { findSimilarTurns } = await import('../vectors/similar-turns.ts');
  const found = await findSimilarTurns(forms, rows, dimension, options.aliasCosine!);
  const words = new Map(forms.map((form) => [form, splitFormWords(form)]));
  return new Map(
    forms.map((form, i) => [
      form,
      new Map([...found[i]!].filter(([other]) => haveSameNumbers(words.get(form)!, words.get(other)!))),
    ]),
  );
}
