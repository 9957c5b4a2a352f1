import {
  ADDONS,
  type AddonName,
  findAddon,
  loadAddon,
  locateAddon,
  readAddonRecord,
} from '../../core/backends/native-addon.ts';
import { UnavailableError } from '../../core/errors/errors.ts';
import { measureFolder } from '../../core/files/built-folder.ts';
import { printOut } from '../../core/terminal/progress.ts';
import type { HnswAddon } from '../../index/vectors/hnsw.ts';

interface ListedAddon {
  readonly name: AddonName;
  readonly folder: string;
  readonly bytes: number;
  readonly versions: string;
}

/** The installed addons. */
export function listAddons(): ListedAddon[] {
  return (Object.keys(ADDONS) as AddonName[]).flatMap((name) => {
    const record = readAddonRecord(name);
    if (record === null) return [];
    const folder = locateAddon(name);
    return [
      { name, folder, bytes: measureFolder(folder).bytes, versions: `${ADDONS[name].library} ${record.library}` },
    ];
  });
}

/**
 * Loads the addon, names its sets of instructions, and compares its graphs by each of them with those of hnswlib-node.
 *
 * @param load loads it and no more.
 * @throws UnavailableError for an addon that is missing, does not load or computes something else.
 */
export async function checkHnsw(load: boolean): Promise<void> {
  const found = findAddon('hnsw');
  if ('fault' in found) throw new UnavailableError('backend hnsw', found.fault);
  const instructions = loadAddon<HnswAddon>('hnsw', found.path).listInstructions();
  printOut(`hnsw: ${instructions.join(', ')}\n`);
  if (load) return;
  const { wrapAddon } = await import('../../index/vectors/hnsw.ts');
  const { compareWithHnswlib } = await import('../../index/vectors/hnsw-proof.ts');
  const compared = await Promise.all(instructions.map((name) => compareWithHnswlib(wrapAddon(found.path, name))));
  const [difference] = compared.flatMap(({ differences }) => differences);
  if (difference !== undefined)
    throw new UnavailableError(
      'backend hnsw',
      `it computes something else than hnswlib-node (${difference}); if that was built with CXXFLAGS: npm rebuild hnswlib-node`,
    );
  const graphs = compared.reduce((sum, one) => sum + one.graphs, 0);
  printOut(`graphs: ${graphs} of ${graphs} have the bytes and the answers of hnswlib-node\n`);
}
