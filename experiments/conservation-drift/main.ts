import { runAsProgram } from '../program.ts';
import { runConservationDrift } from './command.ts';

await runAsProgram(runConservationDrift, process.argv.slice(2));
