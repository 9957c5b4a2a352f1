import { printError, printOut } from '../../core/terminal/terminal.ts';
import { writeRun } from '../../eval/trec/trec-files.ts';
import { applyOverrides } from '../../lab/composition/config-file.ts';
import { fuseSystems } from '../../lab/score/fuse-systems.ts';
import { readSystems } from '../../lab/score/score-files.ts';
import { parseFusion } from '../../ops/fusion/registry.ts';

interface FuseFlags {
  readonly method: string;
  readonly out: string;
  readonly normalise?: string;
  readonly set: readonly string[];
  readonly depth: number;
  readonly tag?: string;
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
