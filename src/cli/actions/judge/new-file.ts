import { existsSync } from 'node:fs';
import { ValidationError } from '../../../core/errors/errors.ts';

/** Grades that a person wrote into a file are not overwritten. @throws ValidationError if the file exists. */
export function assertNewFile(path: string): void {
  if (existsSync(path))
    throw new ValidationError(`file exists and may hold grades: ${path}; name another file, or remove it`, { path });
}
