import { ValidationError } from '../../core/errors/errors.ts';

/** The end of a model's name that states a version by date, or the tag of a local copy. */
const VERSION = /(?:[-@:_.]?(?:\d{4}-\d{2}-\d{2}|\d{8})|:[\w.-]+|[-@:]latest)$/;

/**
 * A name of a person or model without what services add to it: `openai/GPT-4o-2024-08-06` and `gpt-4o:latest` are `gpt-4o`.
 */
function simplifyName(name: string): string {
  const own = name.trim().toLowerCase().split('/').at(-1) as string;
  return own.replace(VERSION, '').replace(/\s+/g, ' ') || own;
}

/** Whether two names are of one person or model: case, the provider before a slash and the date or tag of a version do not count. */
export function isSameAuthor(a: string, b: string): boolean {
  return simplifyName(a) === simplifyName(b);
}

/**
 * Keeps generator and judge apart: a model that wrote a query prefers documents that resemble its own text.
 *
 * @throws ValidationError if the judge wrote one of the queries.
 */
export function assertIndependentJudge(judge: string, generators: Iterable<string>): void {
  for (const generator of generators)
    if (isSameAuthor(judge, generator))
      throw new ValidationError(
        `judge ${judge} wrote queries that it judges (generator ${generator}); use another judge, or other queries`,
        { judge, generator },
      );
}
