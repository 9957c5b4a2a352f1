import { Command, Option } from 'commander';
import { addQuestionOptions } from './ask.ts';
import { cacheOption, collect, createBackendOption, lazyAction, parseCount, parseNumber } from './options/options.ts';

function importCommand(): Command {
  return new Command('import')
    .description('add records from files; the first import makes the memory')
    .argument('<folder>', 'the folder of the memory; the first import makes it')
    .argument('<files...>', 'records as .jsonl, .parquet or .safetensors; turns.jsonl of a dataset too')
    .addOption(vectorsOption())
    .option('--encoder <name>', 'embed the text of records without an embedding, for example by use-lite')
    .option('--replace', 'replace records whose ids are in the memory')
    .addOption(dirtyRowOption())
    .option('--set <option=value>', 'an option of the memory, kept in memory.json (repeatable)', collect, [])
    .addOption(cacheOption())
    .addHelpText(
      'after',
      `
Examples:
  ragpp memory import notes turns.jsonl --encoder use-lite
  ragpp memory import notes records.jsonl --vectors vectors.npy --set indexes.main.index=hnsw
  ragpp memory import notes corrections.jsonl --replace`,
    )
    .action(lazyAction(async () => (await import('./actions/memory-import.ts')).runMemoryImport));
}

const vectorsOption = () =>
  new Option(
    '--vectors <file>',
    'the embeddings as .npy, .safetensors or .parquet, by id, or by order if the file has no ids',
  );

const atOption = () =>
  new Option('--at <moment>', 'answer as the memory did after a change, by its number, or at a time; with history');

const dirtyRowOption = () =>
  new Option('--on-dirty-row <treatment>', 'error: report all bad rows and write nothing; skip: count them')
    .choices(['error', 'skip'])
    .default('error');

function curateCommand(): Command {
  return new Command('curate')
    .description('compare records of files with those of a memory: add, merge or drop each, or mark what it corrects')
    .argument('<folder>', 'the folder of the memory; the log of the decisions is in its folder curation')
    .argument('<files...>', 'records as .jsonl, .parquet or .safetensors; turns.jsonl of a dataset too')
    .addOption(vectorsOption())
    .addOption(dirtyRowOption())
    .addOption(
      new Option('--decider <decider>', 'rules on this machine, or a service with the interface of OpenAI')
        .choices(['rules', 'endpoint'])
        .default('rules'),
    )
    .option('--model <name>', 'the model that decides; with --decider endpoint')
    .option('--base-url <url>', 'the address before /chat/completions; with --decider endpoint')
    .option('--api-key-variable <name>', 'the environment variable with the key; with --decider endpoint')
    .option('--set <option=value>', 'an option of the curation, for this command alone (repeatable)', collect, [])
    .addOption(cacheOption())
    .addHelpText(
      'after',
      `
Records that are marked sensitive are added as they are, and no service gets their text.

Examples:
  ragpp memory curate notes today.jsonl
  ragpp memory curate notes today.jsonl --decider endpoint --model llama3.1 --base-url http://localhost:11434/v1
  ragpp memory curate notes today.jsonl --vectors vectors.npy --set rules.updateAbove=0.9`,
    )
    .action(lazyAction(async () => (await import('./actions/memory-curate.ts')).runMemoryCurate));
}

function undoCommand(): Command {
  return new Command('undo')
    .description('undo the last decisions of a curation, which brings the records back')
    .argument('<folder>', 'the folder of the memory')
    .addOption(new Option('--count <count>', 'how many decisions; default: 1').argParser(parseCount).conflicts('all'))
    .option('--all', 'every decision of the log')
    .action(lazyAction(async () => (await import('./actions/memory-curate.ts')).runMemoryUndo));
}

function queryCommand(): Command {
  return new Command('query')
    .description('find the records nearest to a query, and the prior over their outcomes')
    .argument('<folder>', 'the folder of the memory')
    .option('--text <text>', 'search by a text, with the encoder that embedded the records')
    .option('--sensitive', 'the text stays on this machine: an encoder behind a service does not get it')
    .option('--vector <vector>', 'search by a vector: a JSON list, or a file with one row')
    .option('--id <record>', 'search by the embedding of a record, which is left out of the answer')
    .option('--k <count>', 'the most candidates; default: defaultK of the memory', parseCount)
    .option('--filter <filter>', 'what a candidate must satisfy, for example "outcome >= 0.5 and channel = \'mail\'"')
    .option('--index <name>', 'an index to search (repeatable); default: all', collect, [])
    .option('--weighted', 'weigh outcomes by the scores of their candidates')
    .addOption(
      new Option('--pool <observations>', 'which observations of a candidate the prior pools')
        .choices(['outcome', 'stats', 'both'])
        .default('both'),
    )
    .option('--as-of <time>', 'only records before this time, in ISO 8601 with a zone')
    .addOption(atOption())
    .option('--log', 'log what was retrieved, without any text, for patterns and used')
    .addOption(
      new Option('--format <format>', 'a table, or everything as JSON').choices(['text', 'json']).default('text'),
    )
    .addOption(cacheOption())
    .addHelpText(
      'after',
      `
Give one of --text, --vector and --id. With --id, $query.NAME in a filter is the value of that record.

Examples:
  ragpp memory query notes --text 'blank pages again' --k 5
  ragpp memory query notes --text 'the code of the safe' --sensitive
  ragpp memory query notes --id n3 --filter 'channel = $query.channel' --weighted
  ragpp memory query notes --vector '[0.1, 0.2]' --as-of 2026-03-01T00:00:00Z --format json
  ragpp memory query notes --text 'blank pages again' --at 12`,
    )
    .action(lazyAction(async () => (await import('./actions/memory-query.ts')).runMemoryQuery));
}

function askMemoryCommand(): Command {
  const command = new Command('ask')
    .description('ask the arm of a memory a question: the prompt that a model would be shown, and why')
    .argument('<folder>', 'the folder of a memory that was given an arm by open')
    .argument('<question>', 'in quotes; - reads it from standard input');
  return addQuestionOptions(command)
    .addOption(
      new Option('--strategy <name>', 'which memories are shown')
        .choices(['hybrid', 'episodic', 'semantic'])
        .default('hybrid'),
    )
    .addOption(
      new Option('--rerank <method>', 'the order of the arm, or by the words of the question')
        .choices(['none', 'bm25'])
        .default('none'),
    )
    .addOption(atOption())
    .option('--k <number>', 'the most items of the arm, of facts and of records', parseCount, 100)
    .option('--sensitive', 'the question stays on this machine, and the prompt may hold sensitive records')
    .addOption(
      new Option('--format <format>', 'a prompt with reasons, or everything as JSON')
        .choices(['text', 'json'])
        .default('text'),
    )
    .addOption(cacheOption())
    .addHelpText(
      'after',
      `
The records are read as they are: what was removed is gone from the next prompt, what was added may be in it.

Examples:
  ragpp memory ask notes 'When did the printer last fail?'
  ragpp memory ask notes 'Who has the key?' --budget 300 --as-of 2026-03-01T00:00:00Z`,
    )
    .action(lazyAction(async () => (await import('./actions/memory-ask.ts')).runMemoryAsk));
}

function recallCommand(): Command {
  return new Command('recall')
    .description('print what a memory holds about a prompt, for the hook of a coding agent; nothing on failure')
    .argument('<place>', 'the folder of a memory that was given an arm by open, or the address of ragpp serve')
    .option('--budget <tokens>', 'tokens of all records in the context', parseCount, 1000)
    .option('--deadline <milliseconds>', 'after this time nothing is printed', parseCount, 10_000)
    .option('--cite', 'the context states ids, dates and why each record was found', false)
    .option('--token-variable <name>', 'the environment variable with the token of the service')
    .addOption(cacheOption())
    .addHelpText(
      'after',
      `
Standard input is the prompt, or JSON with a key prompt, as hooks of coding agents give it. The reason why nothing is
printed is on stderr, and the exit code is 0 then too; 2 is wrong usage.

Example:
  echo 'When did the printer last fail?' | ragpp memory recall notes --budget 500 --deadline 3000`,
    )
    .action(lazyAction(async () => (await import('./actions/memory-recall.ts')).runMemoryRecall));
}

function outcomeCommand(): Command {
  return new Command('outcome')
    .description('record an outcome that was observed of a record, for priors, the reranker outcome and the arm')
    .argument('<folder>', 'the folder of the memory')
    .requiredOption('--id <record>', 'the record whose outcome was observed')
    .requiredOption('--value <number>', 'the outcome, for example 1 for success and 0 for failure', parseNumber)
    .addHelpText('after', '\nExample:\n  ragpp memory outcome notes --id n3 --value 1')
    .action(lazyAction(async () => (await import('./actions/memory-stats.ts')).runMemoryOutcome));
}

function usedCommand(): Command {
  return new Command('used')
    .description('find which retrieved records a response uses, log them, and count the use of each')
    .argument('<folder>', 'the folder of the memory')
    .argument('<event>', 'the number that query --log printed', parseCount)
    .requiredOption('--question <text>', 'the text that was asked: the log has a hash of it')
    .requiredOption('--response <file>', 'a file with the text of the response')
    .option('--set <option=value>', 'an option of the detection: span, weight or share (repeatable)', collect, [])
    .addHelpText(
      'after',
      "\nExample:\n  ragpp memory used notes 7 --question 'blank pages again' --response answer.txt",
    )
    .action(lazyAction(async () => (await import('./actions/memory-feedback.ts')).runMemoryUsed));
}

function patternsCommand(): Command {
  return new Command('patterns')
    .description('list the records that logged queries retrieve often, and how often each was of use')
    .argument('<folder>', 'the folder of the memory')
    .option('--min <count>', 'the fewest retrievals', parseCount, 2)
    .action(lazyAction(async () => (await import('./actions/memory-feedback.ts')).runMemoryPatterns));
}

function consolidateCommand(): Command {
  return new Command('consolidate')
    .description('write a summary of each long session, and a procedure where outcomes repeat')
    .argument('<folder>', 'the folder of the memory; the log is in its folder consolidation')
    .option('--dry-run', 'list what would change and write nothing')
    .addOption(new Option('--undo', 'undo the last consolidation, which brings the records back').conflicts('dryRun'))
    .option('--set <option=value>', 'an option of the consolidation (repeatable)', collect, [])
    .addHelpText(
      'after',
      `
Sentences are taken from the records: no model writes. Sensitive records are left out.

Examples:
  ragpp memory consolidate notes --dry-run
  ragpp memory consolidate notes --set minEpisodes=10 --set minRetrievals=3
  ragpp memory consolidate notes --undo`,
    )
    .action(lazyAction(async () => (await import('./actions/memory-consolidate.ts')).runMemoryConsolidate));
}

function removeCommand(): Command {
  return new Command('remove')
    .description('remove records and what was made of them, so that no file of the folder has them')
    .argument('<folder>', 'the folder of the memory')
    .addOption(
      new Option('--filter <filter>', 'records that satisfy it, for example "channel = \'mail\'"').conflicts([
        'conversation',
        'user',
      ]),
    )
    .addOption(new Option('--conversation <id>', 'the records of a conversation').conflicts('user'))
    .option('--user <name>', 'the records of which a person is the author or the attribute userId')
    .option('--dry-run', 'list what would be removed and change nothing')
    .option('--qrels <file>', 'judgements as TREC qrels, to count what is lost of them; default: those of the arm')
    .addOption(cacheOption())
    .addHelpText(
      'after',
      `
Give one of --filter, --conversation and --user. Summaries, procedures and facts that were made of removed records go
with them, and so does what the logs have of them, and the cache: vectors of their texts. A removal cannot be undone.

Examples:
  ragpp memory remove notes --conversation printer-floor-2 --dry-run
  ragpp memory remove notes --user ada
  ragpp memory remove notes --filter "channel = 'mail' and importance < 0.2"`,
    )
    .action(lazyAction(async () => (await import('./actions/memory-remove.ts')).runMemoryRemove));
}

function proveForgottenCommand(): Command {
  return new Command('prove-forgotten')
    .description('look for a text in every file of a folder, byte by byte')
    .argument('<folder>', 'the folder of a memory, or any other')
    .argument('<canary>', 'a text that only what was removed had; upper and lower case are distinguished')
    .addHelpText(
      'after',
      `
The text is looked for as UTF-8, UTF-16, JSON and base64, in the names of files, within gzip and zstd, and in the rows
of Parquet and of tables of the memory in Postgres.

Exit codes: 0 no file has it, 1 a file has it or cannot be read, 2 wrong usage.

Example:
  ragpp memory prove-forgotten notes 'the code of the safe'`,
    )
    .action(lazyAction(async () => (await import('./actions/memory-remove.ts')).runMemoryProveForgotten));
}

function statsCommand(): Command {
  return new Command('stats')
    .description('count the records, attributes and outcomes of a memory, and the bytes of its parts')
    .argument('<folder>', 'the folder of the memory')
    .addOption(
      new Option('--format <format>', 'a table, or everything as JSON').choices(['text', 'json']).default('text'),
    )
    .option('--figure <file>', 'write magnitude, energy, information and drift over time as .html, or .json of Plotly')
    .addHelpText('after', '\nExample:\n  ragpp memory stats notes --figure conservation.html')
    .action(lazyAction(async () => (await import('./actions/memory-stats.ts')).runMemoryStats));
}

function exportCommand(): Command {
  return new Command('export')
    .description('write all records to a file, which import reads without loss')
    .argument('<folder>', 'the folder of the memory')
    .argument('<out>', 'the file; its ending is .jsonl, .parquet, .safetensors or .npy')
    .addHelpText('after', '\nWith .npy the ids and the records are written beside it, as OUT.ids.json and OUT.jsonl.')
    .action(lazyAction(async () => (await import('./actions/memory-export.ts')).runMemoryExport));
}

function repairCommand(): Command {
  return new Command('repair')
    .description('write what can be read of a damaged memory into a new folder')
    .argument('<folder>', 'the folder of the damaged memory, which stays as it is')
    .requiredOption('--into <new>', 'the folder of the new memory, missing or empty')
    .addHelpText('after', '\nExit codes: 0 nothing was lost, 1 something was lost and is listed, 2 wrong usage.')
    .action(lazyAction(async () => (await import('./actions/memory-stats.ts')).runMemoryRepair));
}

/** The options of commands that read an arm of a config. */
function addArmOptions(command: Command): Command {
  return command
    .requiredOption('--arm <name>', 'the arm that answers, tuned as in a run')
    .option('--set <path=value>', 'override one value of the config (repeatable)', collect, [])
    .option('--dataset <name>', 'of a config with several datasets, this one')
    .addOption(createBackendOption())
    .addOption(cacheOption());
}

function openCommand(): Command {
  const command = new Command('open')
    .description('have an arm of a config answer the questions of a memory; makes the memory if it is missing')
    .argument('<folder>', 'the folder of the memory; the config of the arm is kept in its arm.yaml')
    .requiredOption('--config <config>', 'a YAML file, such as configs/quickstart.yaml');
  return addArmOptions(command)
    .addHelpText(
      'after',
      `
The encoder of the arm embeds what import adds and what query asks. The dataset of the config stays where it is: the
encoder lsa is fitted on it.

Examples:
  ragpp memory open notes --config configs/quickstart.yaml --arm 'hybrid + time decay'
  ragpp memory import notes turns.jsonl
  ragpp memory query notes --text 'blank pages again'`,
    )
    .action(lazyAction(async () => (await import('./actions/memory-open.ts')).runMemoryOpen));
}

function replayCommand(): Command {
  const command = new Command('replay')
    .description('ask a memory that grows turn by turn the queries of a config, and compare with the run of the arm')
    .argument('<config>', 'a YAML file, such as configs/quickstart.yaml')
    .option('--queries <count>', 'the most queries, spread over those of the config; default: all', parseCount)
    .option('--http', 'add and ask over HTTP, by a service of this process, as ragpp serve has it')
    .option('--out <file>', 'write what the memory answered as a TREC run file');
  return addArmOptions(command)
    .addHelpText(
      'after',
      `
Exit codes: 0 both run files are equal, byte for byte; 1 they differ; 2 wrong usage.

Example:
  ragpp memory replay configs/quickstart.yaml --arm hybrid --queries 20`,
    )
    .action(lazyAction(async () => (await import('./actions/memory-replay.ts')).runMemoryReplay));
}

export function memoryCommand(): Command {
  return new Command('memory')
    .description('keep records with outcomes, find those like a query, and tell what their outcomes say')
    .addCommand(openCommand())
    .addCommand(importCommand())
    .addCommand(curateCommand())
    .addCommand(undoCommand())
    .addCommand(queryCommand())
    .addCommand(askMemoryCommand())
    .addCommand(recallCommand())
    .addCommand(outcomeCommand())
    .addCommand(usedCommand())
    .addCommand(patternsCommand())
    .addCommand(consolidateCommand())
    .addCommand(removeCommand())
    .addCommand(proveForgottenCommand())
    .addCommand(statsCommand())
    .addCommand(exportCommand())
    .addCommand(repairCommand())
    .addCommand(replayCommand());
}
