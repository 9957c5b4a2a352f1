import { DOORS } from '../src/entry-points.harness.ts';
import { listLoaded } from '../src/loaded-modules.harness.ts';
import { formatTextTable } from './text-table.ts';

/** The cost of importing an entry point. */
interface DoorCost {
  readonly door: string;
  /** The modules of the project that it loads. */
  readonly modules: number;
  /** The packages that it loads. */
  readonly packages: readonly string[];
}

export function countDoorModules(): DoorCost[] {
  return [...DOORS].map(([door, file]) => {
    const { modules, packages } = listLoaded(file);
    return { door, modules: modules.length, packages };
  });
}

export function formatDoorCosts(costs: readonly DoorCost[]): string {
  const rows = costs.map(({ door, modules, packages }) => [
    door,
    String(modules),
    packages.includes('@tensorflow/tfjs-core') ? 'yes' : 'no',
    String(packages.length),
  ]);
  return formatTextTable(['entry point', 'modules', 'tensors', 'packages'], rows);
}
