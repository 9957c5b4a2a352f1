import { ValidationError } from '../../core/errors/errors.ts';
import { createTerminalProgress, printOut } from '../../core/terminal/progress.ts';
import { addModel } from '../../index/encoders/models/add-model.ts';
import { KNOWN_MODELS } from '../../index/encoders/models/known-models.ts';
import { findModelsFolder } from '../../index/encoders/models/model-location.ts';
import { listModels, removeModel } from '../../index/encoders/models/model-store.ts';
import { alignColumns } from '../process/columns.ts';

const formatMebibytes = (bytes: number) => (bytes / 2 ** 20).toFixed(1);

export async function add(model: string, { name: wanted }: { readonly name?: string }): Promise<void> {
  const { name, bytes, folder } = await addModel(model, {
    name: wanted,
    progress: createTerminalProgress(),
    announce: (line) => printOut(`${line}\n`),
  });
  printOut(`added ${name}: ${formatMebibytes(bytes)} MiB in ${folder}\n`);
  printOut(`a config uses it by embedding: { encoder: bert, model: ${name} }\n`);
}

export function list(): void {
  const models = listModels();
  const rows = models.map(({ name, bytes, licence, source, folder }) => {
    return [name, formatMebibytes(bytes), licence ?? 'not stated', source, folder];
  });
  if (rows.length === 0) printOut(`no model in ${findModelsFolder()}\n`);
  else printOut(`${alignColumns([['model', 'MiB', 'licence', 'source', 'folder'], ...rows])}\n`);
  for (const { name, licence, archive } of KNOWN_MODELS.members)
    if (!models.some((model) => model.name === name))
      printOut(`not added: ${name}, ${licence}, ${formatMebibytes(archive.bytes)} MiB; ragpp encoder add ${name}\n`);
}

/** @throws ValidationError for a name that no model has. */
export function remove(name: string): void {
  if (!removeModel(name))
    throw new ValidationError(`no added model: ${name}; ragpp encoder list shows the models that are there`, { name });
  printOut(`removed ${name}\n`);
}
