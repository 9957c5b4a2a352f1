import { Command, InvalidArgumentError, Option } from 'commander';
import type { QuestionInput } from '../lab/run/ask.ts';
import { ASSEMBLY_STRATEGIES, type BudgetPreset, PACKING_NAMES } from '../memory/context/packing.ts';
import { TOKEN_COUNTERS } from '../model/text/tokens.ts';
import { cacheOption, collect, createBackendOption, lazyAction } from './options/options.ts';

function parseBudget(text: string): number {
  const tokens = Number(text);
  if (!Number.isSafeInteger(tokens) || tokens < 1)
    throw new InvalidArgumentError('not a whole number of tokens from 1.');
  return tokens;
}

/** A preset, or two numbers; `assemble` checks both. */
function parseShares(text: string): QuestionInput['weights'] {
  if (!text.includes(',')) return text as BudgetPreset | 'by-question';
  const [documents = Number.NaN, memories = Number.NaN, ...more] = text.split(',').map(Number);
  if (more.length > 0 || Number.isNaN(documents + memories))
    throw new InvalidArgumentError('not two numbers parted by a comma, such as .3,.7.');
  return { documents, memories };
}

/** The options of a question and of how much a model is shown. */
export function addQuestionOptions(command: Command): Command {
  return command
    .option('--budget <tokens>', 'tokens of all turns in the prompt', parseBudget, 2000)
    .addOption(
      new Option(
        '--packing <method>',
        'in order until one does not fit, the largest sum of scores, or by score per token',
      )
        .choices(PACKING_NAMES)
        .default('in-order'),
    )
    .addOption(new Option('--tokens <counter>', 'what a token is').choices([...TOKEN_COUNTERS]).default('characters/4'))
    .option('--as-of <time>', 'the moment of the question, ISO 8601 (default: after the newest turn)')
    .option('--author <name>', 'who asks the question')
    .option('--channel <name>', 'where the question is asked')
    .option('--conversation <id>', 'only turns of this conversation')
    .option('--anchor <turn>', 'the turn that the question follows')
    .option('--time-zone <zone>', 'of words such as yesterday, an IANA name', 'UTC')
    .option('--cite', 'the prompt states ids, dates and why each item was found', false)
    .option('--facts <folder>', 'facts on two timelines about what the question names, a folder of openFactStore')
    .option('--domain <file>', 'a YAML file with the records of a database that a question may need')
    .option('--database <address>', 'the database of --domain: a file of DuckDB, or postgres://...');
}

export function askCommand(): Command {
  const command = new Command('ask')
    .description('ask one arm of a config a question: the prompt that a model would be shown, and why')
    .argument('<config>', 'a YAML file, such as configs/quickstart.yaml')
    .argument('<question>', 'in quotes; - reads it from standard input')
    .requiredOption('--arm <name>', 'the arm that is asked');
  return addQuestionOptions(command)
    .option('--vector <vector>', 'the vector of the question: a JSON list, or a file with one row')
    .option('--set <path=value>', 'override one value of the config (repeatable)', collect, [])
    .option('--dataset <name>', 'of a config with several datasets, this one')
    .addOption(
      new Option('--strategy <name>', 'the ranking of the arm, or what of it shares the budget')
        .choices(['ranking', ...ASSEMBLY_STRATEGIES])
        .default('ranking'),
    )
    .option(
      '--weights <shares>',
      'of the strategy rag: balanced, rag-focused, memory-focused, by-question, or the shares of documents and memories, such as .3,.7',
      parseShares,
      'memory-focused',
    )
    .option('--session <id>', 'memories of this conversation alone, beside all documents')
    .addOption(
      new Option('--rerank <method>', 'one order over documents and memories')
        .choices(['bm25', 'none'])
        .default('bm25'),
    )
    .option(
      '--sensitive',
      'the question and its prompt stay here: no service, no cache; the prompt may hold sensitive turns',
      false,
    )
    .option('--json', 'everything as JSON', false)
    .addOption(createBackendOption())
    .addOption(cacheOption())
    .addHelpText(
      'after',
      `
Examples:
  ragpp ask configs/quickstart.yaml --arm bm25 "Who reported the problem with the mail server?"
  ragpp ask configs/quickstart.yaml --arm hybrid "Which kernel was it?" --budget 500 --tokens o200k_base --json
  ragpp ask configs/quickstart.yaml --arm hybrid - --sensitive < question.txt`,
    )
    .action(lazyAction(async () => (await import('./actions/ask.ts')).ask));
}
