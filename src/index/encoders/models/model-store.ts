import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { ChecksumMismatchError, ValidationError } from '../../../core/errors/errors.ts';
import { buildFolder, measureFolder, removeBuiltFolder } from '../../../core/files/built-folder.ts';
import { readText, writeAtomic } from '../../../core/files/files.ts';
import { parse } from '../../../core/validation/validation.ts';
import { assertModelName, findModelsFolder, isModelName } from './model-location.ts';

/** Beside the files of a model: what it is and where it is from. */
const NOTE_FILE = 'ragpp-model.json';
const UNFINISHED_MODEL = 'unfinished model';

const note = z.object({
  name: z.string(),
  /** Null if the model's files do not state one. */
  licence: z.string().nullable(),
  /** The origin of the files: coordinates, an address or a folder. */
  source: z.string(),
});
type ModelNote = z.output<typeof note>;

/** A model that was added. */
export interface StoredModel extends ModelNote {
  readonly folder: string;
  readonly bytes: number;
}

function readModel(folder: string): StoredModel {
  const path = join(folder, NOTE_FILE);
  let content: unknown;
  try {
    content = JSON.parse(readText(path));
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    throw new ChecksumMismatchError(path, 'it is not JSON', `delete ${folder} and add the model again`);
  }
  const stated = parse(note, content, path);
  return { ...stated, folder, bytes: measureFolder(folder).bytes };
}

/** The models that were added, by name. */
export function listModels(): StoredModel[] {
  const root = findModelsFolder();
  const names = existsSync(root) ? readdirSync(root).filter(isModelName).sort() : [];
  return names.filter((name) => existsSync(join(root, name, NOTE_FILE))).map((name) => readModel(join(root, name)));
}

/**
 * Adds a model. Files beside its folder stay if `write` throws or the process ends: downloads, which the next attempt
 * continues.
 *
 * @param write writes the files into `folder`, and what is not part of the model beside it, into `around`.
 *   @returns the licence.
 * @throws ValidationError for a name that is taken; UnavailableError while another process adds the model; what `write`
 *   throws.
 */
export async function storeModel(
  { name, source }: Pick<ModelNote, 'name' | 'source'>,
  write: (folder: string, around: string) => Promise<string | null>,
): Promise<StoredModel> {
  const target = join(findModelsFolder(), assertModelName(name));
  await buildFolder(
    target,
    UNFINISHED_MODEL,
    () => assertFree(target, name),
    async (folder, around) => {
      const licence = await write(folder, around);
      const text = `${JSON.stringify({ name, licence, source } satisfies ModelNote, null, 2)}\n`;
      writeAtomic(join(folder, NOTE_FILE), text);
    },
  );
  return readModel(target);
}

function assertFree(target: string, name: string): void {
  if (!existsSync(target)) return;
  throw new ValidationError(
    `there is a model of this name: ${target}; remove it by ragpp encoder remove ${name}, or choose another by --name`,
    { name },
  );
}

/** Deletes an added model, and what an unfinished attempt to add it left. @returns true if there was anything. */
export function removeModel(name: string): boolean {
  return removeBuiltFolder(join(findModelsFolder(), assertModelName(name)), UNFINISHED_MODEL, NOTE_FILE);
}
