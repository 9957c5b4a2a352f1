import { z } from 'zod';

const ONE_WORD = /^\S+$/;
/** Half a surrogate pair has no UTF-8, and bytes that are no UTF-8 are read as U+FFFD: in a file, two such ids would be one. */
const WELL_FORMED = /^[^\p{Cs}\ufffd]*$/u;

/** An id that a run file can hold, and that is the same when it is read back. */
export function isId(text: string): boolean {
  return ONE_WORD.test(text) && WELL_FORMED.test(text);
}

export const id = z.string().regex(ONE_WORD, 'an id without spaces').regex(WELL_FORMED, 'an id of well-formed Unicode');
