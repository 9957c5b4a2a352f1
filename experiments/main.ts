import { runConservationDrift } from './conservation-drift/command.ts';
import { runFindings } from './findings/command.ts';
import { runAsProgram } from './program.ts';

/** Every experiment by name: what `npm run experiment -- <name>` runs. */
const EXPERIMENTS: Readonly<Record<string, (args: readonly string[]) => Promise<void>>> = {
  'conservation-drift': runConservationDrift,
  findings: runFindings,
};

const [name = '', ...args] = process.argv.slice(2);
if (Object.hasOwn(EXPERIMENTS, name)) await runAsProgram(EXPERIMENTS[name] as (typeof EXPERIMENTS)[string], args);
else {
  const list = Object.keys(EXPERIMENTS).map((known) => `  ${known}\n`);
  process.stderr.write(`usage: npm run experiment -- <name> [options]\n\n${list.join('')}`);
  process.exitCode = 2;
}
