import { InvalidArgumentError, Option } from 'commander';
import { BACKENDS } from '../../core/tensors/active-backend.ts';

/** The action of a command whose code is imported when the command runs, so that help needs none of it. */
export function lazyAction<Arguments extends readonly unknown[]>(
  load: () => Promise<(...given: Arguments) => void | Promise<void>>,
): (...given: Arguments) => Promise<void> {
  return async (...given) => {
    const act = await load();
    await act(...given);
  };
}

/** The options that several commands share. */
export function createBackendOption(): Option {
  return new Option(
    '--backend <name>',
    `tensor backend; auto takes the first that loads of ${BACKENDS.join(', ')}`,
  ).choices(['auto', ...BACKENDS]);
}

export function cacheOption(): Option {
  return new Option('--cache <folder>', 'where prepared datasets, embeddings and the results of stages are kept')
    .env('RAGPP_CACHE')
    .default('.ragpp/cache');
}

/** For an option that may be given several times. */
export function collect(value: string, earlier: string[]): string[] {
  return [...earlier, value];
}

/** Reads a finite number. */
export function parseNumber(text: string): number {
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number))
    throw new InvalidArgumentError('not a finite number; give one such as 0.5.');
  return number;
}

/** Reads a number of things. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (!Number.isInteger(count) || count < 1)
    throw new InvalidArgumentError('not a whole number from 1; give one such as 10.');
  return count;
}
