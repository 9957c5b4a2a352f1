import { Command, InvalidArgumentError, Option } from 'commander';
import { cacheOption, collect, lazyAction, parseCount } from './options/options.ts';

function parseShare(text: string): number {
  const share = Number(text);
  if (!(share > 0 && share <= 1)) throw new InvalidArgumentError('not above 0 and at most 1; give one such as 0.2.');
  return share;
}

function parseKappa(text: string): number {
  const kappa = Number(text);
  if (text.trim() === '' || !(kappa >= -1 && kappa <= 1))
    throw new InvalidArgumentError('not from -1 to 1; give one such as 0.6.');
  return kappa;
}

/** The options that name the texts of documents. */
function addTextOptions(command: Command): Command {
  return command
    .option('--documents <file>', 'the texts of the documents: JSONL with id or _id, text and title')
    .option('--data <name>', 'a dataset with the texts: ragpp data lists them')
    .option('--set <path=value>', 'an option of the dataset, such as dataset.path=data (repeatable)', collect, [])
    .addOption(cacheOption());
}

function poolCommand(): Command {
  const command = new Command('pool')
    .description('write the pairs to judge: the first documents of every run')
    .argument('<runs...>', 'folders of stored runs, or run files as ragpp score reads them')
    .requiredOption('--into <file>', 'the pool to write, JSONL')
    .option('--depth <n>', 'documents of each ranking', parseCount, 10)
    .option('--seed <n>', 'seed of the order, which shows neither system nor rank', parseCount, 1)
    .option('--queries <file>', 'the texts of the queries: JSONL with id, text, kind, generator and sources')
    .option('--generator <name>', 'the person or model that wrote the queries, where their file does not state it')
    .option('--judged <file>', 'leave out the pairs of a file of judgements (repeatable)', collect, []);
  return addTextOptions(command)
    .addHelpText(
      'after',
      `
The texts of a stored run come from the dataset of its config.

Examples:
  ragpp judge pool results/runs/hybrid-3f9a1c20 --generator ana --into pool.jsonl
  ragpp judge pool bm25.trec dense.trec --depth 20 --queries queries.jsonl --documents turns.jsonl --into pool.jsonl
  ragpp judge pool new.trec --queries queries.jsonl --documents turns.jsonl --judged ana=pool.jsonl --into more.jsonl`,
    )
    .action(lazyAction(async () => (await import('./actions/judge.ts')).runJudgePool));
}

function askCommand(): Command {
  return new Command('ask')
    .description('have a model behind a service with the interface of OpenAI grade a pool')
    .argument('<pool>', 'a pool of ragpp judge pool')
    .requiredOption('--base-url <url>', 'the address before /chat/completions, such as http://localhost:11434/v1')
    .requiredOption('--model <name>', 'the model, which is also the name of the judge')
    .requiredOption('--into <file>', 'the pool with grades to write, JSONL; a file of an interrupted call is continued')
    .option(
      '--set <option=value>',
      'apiKeyVariable, batchSize, maxAttempts, pauseSeconds, timeoutSeconds, pricePerMillionTokens (repeatable)',
      collect,
      [],
    )
    .addHelpText(
      'after',
      `
Pairs that are marked sensitive are not sent. A model that wrote one of the queries is refused.

Example:
  ragpp judge ask pool.jsonl --base-url http://localhost:11434/v1 --model judge-7b --into llm.jsonl`,
    )
    .action(lazyAction(async () => (await import('./actions/judge.ts')).runJudgeAsk));
}

function sampleCommand(): Command {
  return new Command('sample')
    .description('draw a share of every stratum and grade of a pool for a manual check, without its grades')
    .argument('<pool>', 'a pool, or a pool with the grades of a judge')
    .requiredOption('--into <file>', 'the sample to write, JSONL')
    .option('--share <share>', 'the share of each stratum', parseShare, 0.2)
    .option('--seed <n>', 'seed of the draw', parseCount, 1)
    .addHelpText('after', '\nExample:\n  ragpp judge sample llm.jsonl --share 0.2 --into sample.jsonl')
    .action(lazyAction(async () => (await import('./actions/judge.ts')).runJudgeSample));
}

function agreementCommand(): Command {
  return new Command('agreement')
    .description('compare two judges: kappa, weighted kappas, confusion matrix, and a gate')
    .argument('<a>', 'judgements of one judge: FILE, or JUDGE=FILE where the file does not name the judge')
    .argument('<b>', 'judgements of another judge')
    .option('--pool <file>', 'a pool with the strata and generators of the queries (repeatable)', collect, [])
    .option('--gate <kappa>', 'the least kappa; below it the exit code is 1', parseKappa, 0.6)
    .addOption(
      new Option('--format <format>', 'a table, or everything as JSON').choices(['text', 'json']).default('text'),
    )
    .addHelpText('after', '\nExample:\n  ragpp judge agreement ana=sample.jsonl llm.jsonl')
    .action(lazyAction(async () => (await import('./actions/judge.ts')).runJudgeAgreement));
}

function collectCommand(): Command {
  return new Command('collect')
    .description('check the judgements of a pool and write them as TREC qrels or JSONL')
    .argument('<files...>', 'JSONL or TREC qrels: FILE, or JUDGE=FILE; of several judges the one named first counts')
    .requiredOption('--pool <file>', 'the pool that was judged (repeatable)', collect, [])
    .requiredOption('--into <file>', 'the judgements to write: JSONL if the name ends in .jsonl, else TREC qrels')
    .addHelpText(
      'after',
      `
Examples:
  ragpp judge collect ana=sample.jsonl llm.jsonl --pool pool.jsonl --into qrels.trec
  ragpp score qrels.trec results/runs/hybrid-3f9a1c20 --strata queries.jsonl --relevant-grade 2`,
    )
    .action(lazyAction(async () => (await import('./actions/judge.ts')).runJudgeCollect));
}

function checkQueriesCommand(): Command {
  const command = new Command('check-queries')
    .description('check that queries fit their strata: a paraphrase shares no content word with its source')
    .argument('<queries>', 'JSONL with id, text, kind, generator and sources');
  return addTextOptions(command)
    .addHelpText(
      'after',
      `
Exit codes: 0 no fault, 1 faults, which are listed, 2 wrong usage.

Example:
  ragpp judge check-queries queries.jsonl --documents turns.jsonl`,
    )
    .action(lazyAction(async () => (await import('./actions/judge.ts')).runJudgeCheckQueries));
}

export function judgeCommand(): Command {
  return new Command('judge')
    .description('pool rankings, judge the pairs, measure how judges agree, and write qrels')
    .addCommand(poolCommand())
    .addCommand(askCommand())
    .addCommand(sampleCommand())
    .addCommand(agreementCommand())
    .addCommand(collectCommand())
    .addCommand(checkQueriesCommand());
}
