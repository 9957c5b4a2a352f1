import { ValidationError } from '../../core/errors/errors.ts';
import { shortenToExcerpt } from '../../core/validation/validation.ts';

const HALF = 2000;
const LONGEST = 2 * HALF;

/**
 * What is read of a question: all of it, or of more than 4,000 characters the first and the last 2,000, since a question begins or ends what it quotes.
 *
 * @returns the text on one line, with single spaces.
 * @throws ValidationError for a text without any character to read.
 */
export function readQuestionText(text: string): string {
  if (typeof text !== 'string' || text.trim() === '')
    throw new ValidationError(`question is empty: ${shortenToExcerpt(text)}; pass the text of a question`);
  const read = text.length > LONGEST ? `${text.slice(0, HALF)} ${text.slice(-HALF)}` : text;
  return read
    .replace(/[’ʼ]/g, "'")
    .replace(/\s+/g, ' ')
    .replace(/\b(early|mid|late)-/gi, '$1 ')
    .trim();
}
