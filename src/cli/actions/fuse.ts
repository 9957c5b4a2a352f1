import { ValidationError } from '../../core/errors/errors.ts';
import { printError, printOut } from '../../core/terminal/progress.ts';
import { writeRun } from '../../eval/trec/trec-files.ts';
import { applyOverrides } from '../../lab/composition/config-file.ts';
import type { System } from '../../lab/measure/system.ts';
import { readSystems } from '../../lab/stored/system-files.ts';
import { displayRun, type Run } from '../../model/run.ts';
import { type FusionOptions, fuseLists, parseFusion } from '../../ops/fusion/registry.ts';

interface FuseFlags {
  readonly method: string;
  readonly out: string;
  readonly normalise?: string;
  readonly set: readonly string[];
  readonly depth: number;
  readonly tag?: string;
}

/**
 * Keys that are whole numbers stand first in a JavaScript object, so that a method that reads the order of the systems
 * would exchange them.
 */
function assertOrder(names: readonly string[], options: FusionOptions): void {
  const readsOrder =
    (options.method === 'convex' && options.weights === undefined) ||
    (options.method === 'weighted' && typeof options.weights === 'string');
  const number = names.find((name) => /^(0|[1-9]\d*)$/.test(name));
  if (readsOrder && number !== undefined)
    throw new ValidationError(
      `${options.method} depends on the order of the systems, and a name is a number: ${number}; name the system otherwise, such as run-${number}=FILE`,
      { name: number },
    );
}

/**
 * Fuses the rankings of systems, query by query. A system without a ranking for a query adds nothing to it. Weights go
 * by the names of the systems.
 *
 * @param depth documents of each fused ranking.
 * @returns every query of any system, in the order in which the systems name them first.
 * @throws ValidationError for fewer than two systems, for two of one name, and as {@link fuseLists} does.
 */
export function fuseSystems(systems: readonly System[], options: FusionOptions, depth: number): Run {
  const names = systems.map(({ name }) => name);
  const twice = names.find((name, i) => names.indexOf(name) < i);
  if (names.length < 2)
    throw new ValidationError(`fusion needs 2 runs or more, got ${names.length}; name another run file`);
  if (twice !== undefined)
    throw new ValidationError(`two systems have one name: ${twice}; name one of them otherwise`, { name: twice });
  assertOrder(names, options);
  const queryIds = new Set(systems.flatMap(({ run }) => [...run.keys()]));
  const fuseQuery = (queryId: string) => {
    const lists = systems.map(({ name, run }) => [name, run.get(queryId) ?? []] as const);
    return fuseLists(Object.fromEntries(lists), options).slice(0, depth);
  };
  return displayRun(new Map(Array.from(queryIds, (queryId) => [queryId, fuseQuery(queryId)])));
}

export function runFuse(runs: readonly string[], { method, out, normalise, set, depth, tag }: FuseFlags): void {
  const written = { method, ...(normalise === undefined ? {} : { normalisation: normalise }) };
  const options = parseFusion(applyOverrides(written, set), 'the options of the fusion');
  const systems = readSystems(runs);
  const fused = fuseSystems(systems, options, depth);
  for (const { code, message } of systems.flatMap(({ warnings }) => warnings))
    printError(`ragpp: warning (${code}): ${message}\n`);
  writeRun(out, fused, tag ?? method);
  printOut(`${out}: ${fused.size} queries of ${systems.map(({ name }) => name).join(', ')}\n`);
}
