import { ValidationError } from '../src/core/errors/errors.ts';

/** The value of `--name`. @throws ValidationError for anything but an integer that is large enough. */
export function parseIntegerOption(name: string, text: string, least: number): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < least)
    throw new ValidationError(`--${name} is not an integer: ${text}; give one from ${least}`);
  return number;
}

/** The value of `--name`. @throws ValidationError for anything but an integer from 1. */
export function parsePositiveOption(name: string, text: string): number {
  return parseIntegerOption(name, text, 1);
}
