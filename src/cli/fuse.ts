import { Command, InvalidArgumentError } from 'commander';
import { collect, lazyAction } from './options/options.ts';

function parseDepth(text: string): number {
  const depth = Number(text);
  if (!(Number.isInteger(depth) && depth > 0)) throw new InvalidArgumentError('not a whole number from 1.');
  return depth;
}

export function fuseCommand(): Command {
  return new Command('fuse')
    .description('fuse run files of any systems into one run')
    .argument('<runs...>', 'run files, TREC or JSONL; name=file gives a system a name')
    .requiredOption('--method <name>', 'a fusion of docs/config.md, such as rrf')
    .requiredOption('--out <file>', 'the TREC run to write')
    .option('--normalise <name>', 'how scores are normalised, for methods that fuse scores')
    .option('--set <option=value>', 'an option of the method, such as k=10 (repeatable)', collect, [])
    .option('--depth <n>', 'documents of each ranking', parseDepth, 1000)
    .option('--tag <tag>', 'the run tag (default: the method)')
    .addHelpText(
      'after',
      `
Examples:
  ragpp fuse bm25.trec dense.trec --method rrf --out fused.trec
  ragpp fuse bm25.trec dense.trec --method rrf --set k=10 --set weights.bm25=2 --out fused.trec
  ragpp fuse a=one.jsonl b=two.jsonl --method combmnz --normalise min-max --out fused.trec`,
    )
    .action(lazyAction(async () => (await import('./actions/fuse.ts')).runFuse));
}
