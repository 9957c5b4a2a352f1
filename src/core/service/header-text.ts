import { ValidationError } from '../errors/errors.ts';

/**
 * A secret that a header can hold.
 *
 * @throws ValidationError that names the environment variable, and not its value.
 */
export function assertHeaderText(secret: string, variable: string): string {
  if (/^[\t\x20-\x7e\x80-\xff]+$/.test(secret)) return secret;
  throw new ValidationError(
    `the environment variable ${variable} has a line break or a character that no header can hold; export the key again`,
    { variable },
  );
}
