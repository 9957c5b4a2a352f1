import { z } from 'zod';
import type { Selection, SelectionInputs } from './selection.ts';

/** The implementation of a selection. Pure and synchronous, as {@link Selection} describes. */
export type Select<Options> = (inputs: SelectionInputs, options: Options) => Selection;

/** How many of the best scored candidates a selection reorders, an option of every selection. */
export const selectedCount = z.int().min(1).default(50);

/** The cosine from which two memories count as one in the design of memories. */
export const DUPLICATE_COSINE = 0.85;

/** An option of selections by similarity: nothing this near to a better candidate is taken. Absent: no duplicates, and hashes of configs stay. */
export const duplicateAbove = z.number().min(-1).max(1).optional();

/** Weight of relevance against novelty where none is given. */
export const DEFAULT_LAMBDA = 0.7;
