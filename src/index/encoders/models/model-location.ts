import { basename, join } from 'node:path';
import { ValidationError } from '../../../core/errors/errors.ts';
import { UNFINISHED } from '../../../core/files/files.ts';
import { isModelFolder } from '../transformers/model-files.ts';

/** The public models that are added by their names; known-models.ts says how. */
export const PUBLIC_MODELS = ['e5-small-v2', 'all-minilm-l6-v2'] as const;
export type PublicModel = (typeof PUBLIC_MODELS)[number];

/** A name is one folder, also on a system that does not distinguish capitals. */
const NAME = /^[a-z0-9][a-z0-9_-]*(?:\.[a-z0-9_-]+)*$/i;

/** The folder of all added models: `models` in the folder of RAGPP_CACHE, or `.ragpp/models`. */
export function findModelsFolder(): string {
  const cache = process.env.RAGPP_CACHE;
  return cache ? join(cache, 'models') : join('.ragpp', 'models');
}

/** True for a text that may be the name of an added model. */
export function isModelName(name: string): boolean {
  return NAME.test(name) && !name.endsWith(UNFINISHED);
}

/** @throws ValidationError for a text that is no name of a model. */
export function assertModelName(name: string): string {
  if (isModelName(name)) return name;
  throw new ValidationError(
    `a name of a model has letters, digits, dots, _ and -, and does not end in ${UNFINISHED}: ${name}; choose another`,
    { name },
  );
}

/** The folder that `model` names: itself, or that of an added model; null if there is none. */
export function locateModelFolder(model: string): string | null {
  if (isModelFolder({ model })) return model;
  const added = isModelName(model) ? join(findModelsFolder(), model) : null;
  return added !== null && isModelFolder({ model: added }) ? added : null;
}

/** The remedy for a model that is not there, as an error ends. */
export function describeMissingModel(model: string): string {
  const name = basename(model);
  if (!PUBLIC_MODELS.some((known) => known === name))
    return 'set embedding.model to a folder, or to a model of ragpp encoder list';
  return `run ragpp encoder add ${name}${name === model ? '' : `, and set embedding.model: ${name}`}`;
}
