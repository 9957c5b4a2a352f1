import { UnavailableError } from '../errors/errors.ts';
import { assertHeaderText } from './header-text.ts';

/**
 * The key of a service; null without a variable.
 *
 * @param user what asks, as errors name it.
 * @throws UnavailableError if the variable is not set; ValidationError for a key that no header can hold.
 */
export function readApiKey(variable: string | null, user: string): string | null {
  if (variable === null) return null;
  const key = process.env[variable]?.trim(); // a line break of a file of secrets; fetch quotes an invalid header
  if (key !== undefined && key !== '') return assertHeaderText(key, variable);
  throw new UnavailableError(
    user,
    `the environment variable ${variable} is not set; export the key, or set apiKeyVariable: null`,
  );
}
