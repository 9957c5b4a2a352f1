import { ValidationError } from '../../core/errors/errors.ts';
import { type BackendChoice, useBackend } from '../../core/tensors/backend.ts';
import { createTerminalProgress, printOut } from '../../core/terminal/progress.ts';
import { openConfig } from '../../lab/config/config.ts';
import { freezeArm, serveArm } from '../../lab/run/served-arm.ts';
import { writeArm } from './memory/folder-arm.ts';
import { readFolderToWrite, writeSettings } from './memory/memory-folder.ts';
import { openFolder, runWithOpened } from './memory/open-folder.ts';

interface OpenFlags {
  readonly config: string;
  readonly arm: string;
  readonly set: readonly string[];
  readonly dataset?: string;
  readonly backend?: BackendChoice;
  readonly cache: string;
}

/** @throws DimensionMismatchError for a memory whose records have vectors of another encoder. */
export async function runMemoryOpen(folder: string, flags: OpenFlags): Promise<void> {
  const progress = createTerminalProgress();
  const { written, settings, exists } = readFolderToWrite(folder, []);
  if (settings.encoder !== null)
    throw new ValidationError(
      `memory has an encoder of its own: ${settings.encoder.encoder}; export its records and import them into a new folder`,
      { folder },
    );
  const opened = await openConfig(flags.config, flags.set, flags.dataset ?? null);
  const config = { ...opened, backend: flags.backend ?? opened.backend };
  await useBackend(config.backend);
  const frozen = await freezeArm(config, flags.arm, { cacheFolder: flags.cache, progress });
  const arm = await serveArm(frozen, flags.arm, { cacheFolder: flags.cache, progress });
  try {
    await runWithOpened(await openFolder(folder, settings, { arm }), async (memory) => {
      if (!exists) writeSettings(folder, written);
      writeArm(folder, frozen);
      printOut(`${folder}: ${memory.size} records of ${memory.dimension} numbers, answered by ${flags.arm}\n`);
    });
  } finally {
    await arm.dispose();
  }
}
