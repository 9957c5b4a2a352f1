import { runBench } from './command.ts';

process.exitCode = await runBench(process.argv.slice(2));
