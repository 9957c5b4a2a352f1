import { Command, InvalidArgumentError, Option } from 'commander';
import { splitMetricList } from '../eval/metrics/metric.ts';
import { CORRECTIONS, TESTS } from '../eval/significance/multiple-comparisons.ts';
import { cacheOption, collect, lazyAction } from './options/options.ts';

function parsePositive(text: string): number {
  const value = Number(text);
  if (!(value > 0 && Number.isFinite(value))) throw new InvalidArgumentError('not a number above 0.');
  return value;
}

function parseCount(text: string): number {
  const value = parsePositive(text);
  if (!Number.isInteger(value)) throw new InvalidArgumentError('not a whole number from 1.');
  return value;
}

function parseLevel(text: string): number {
  const value = parsePositive(text);
  if (value >= 1) throw new InvalidArgumentError('not between 0 and 1.');
  return value;
}

export function scoreCommand(): Command {
  return new Command('score')
    .description('measure run files of any system against judgements, or a dataset')
    .usage('[options] <qrels> <runs...>')
    .argument(
      '<files...>',
      'judgements, then run files, TREC or JSONL; with --data run files alone; name=file gives a system a name',
    )
    .option('--metrics <list>', 'metrics, with commas between them', splitMetricList, [
      'ndcg@10',
      'recall@10',
      'mrr@10',
    ])
    .option(
      '--token-budgets <list>',
      'with --data: tokens at which the evidence is measured, ascending, with commas between them',
      (list) => list.split(',').map(Number),
    )
    .option('--baseline <system>', 'what the systems are compared with (default: the first run)')
    .option('--clusters <file>', 'the conversation of each query: queries of one conversation are not independent')
    .option('--strata <file>', 'the stratum of each query, for figures by stratum: JSONL with kind, or two columns')
    .option(
      '--superseded <file>',
      'the superseded documents of each query, for stale@k: lines of query, document and what replaces it',
    )
    .option('--documents <file>', 'the ids of the collection, to find unknown ids and depths that cover it')
    .option('--relevant-grade <grade>', 'the least grade that counts as relevant (default: 1)', parsePositive)
    .option('--data <name>', 'measure against a dataset, with its strata and inspector: ragpp data lists them')
    .option(
      '--set <path=value>',
      'an option of the dataset, such as dataset.path=locomo10.json (repeatable)',
      collect,
      [],
    )
    .addOption(
      new Option('--split <split>', 'the queries of the dataset').choices(['dev', 'test', 'all']).default('all'),
    )
    .addOption(
      new Option('--granularity <what>', 'what a hit is: a relevant turn, or any turn of its session')
        .choices(['turn', 'session'])
        .default('turn'),
    )
    .addOption(cacheOption())
    .addOption(new Option('--test <name>', 'the paired test').choices(TESTS).default('permutation'))
    .addOption(
      new Option('--correction <name>', 'for comparing several systems')
        .choices(Object.keys(CORRECTIONS))
        .default('holm'),
    )
    .option('--samples <n>', 'resamples of the bootstrap and sign vectors of the permutation test', parseCount, 10_000)
    .option('--level <share>', 'confidence of the intervals', parseLevel, 0.95)
    .option('--seed <n>', 'seed of the resamples', parseCount, 1)
    .option('--name <name>', "the name of the result, and the beginning of its folder's", 'score')
    .option('--results <folder>', 'where the folder of the result is made', 'results/runs')
    .addHelpText(
      'after',
      `
Prints the table, with a warning for each error of protocol, and leaves <results>/<name>-<hash>/ with the files
of a run: metrics.json, per-query.jsonl, runs and qrels, table.md, .tex and .csv, and report.html.
ragpp rescore and ragpp compare read the folder.

Examples:
  ragpp score qrels.trec bm25.trec dense.trec
  ragpp score qrels.trec mem0=mem0.jsonl ours=ours.trec --baseline mem0 --clusters queries.jsonl
  ragpp score qrels.tsv *.trec --metrics ndcg@10,recall@100 --documents corpus.jsonl --relevant-grade 2
  ragpp score --data locomo --set dataset.path=locomo10.json --granularity session ours.trec mem0.jsonl
  ragpp score --data locomo --set dataset.path=locomo10.json --token-budgets 250,500,1000,2000 ours.trec mem0.jsonl`,
    )
    .action(lazyAction(async () => (await import('./actions/score.ts')).runScore));
}
