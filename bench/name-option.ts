import { ValidationError } from '../src/core/errors/errors.ts';

/** The names of `--option`, parted by commas; all where it is absent. @throws ValidationError for a name that is not known. */
export function parseNames<T extends string>(
  option: string,
  text: string | undefined,
  known: readonly T[],
): readonly T[] {
  const names = text === undefined ? known : text.split(',');
  return names.map((name) => {
    const found = known.find((one) => one === name);
    if (found === undefined) throw new ValidationError(`unknown --${option}: ${name}; use ${known.join(', ')}`);
    return found;
  });
}
