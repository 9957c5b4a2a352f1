import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { buildProgram } from '../src/cli/program.ts';
import { METRICS } from '../src/eval/metrics/metric.ts';
import {
  indexDocumentedRows,
  isKind,
  type Key,
  listAlternatives,
  type Schema,
} from '../src/lab/config/config-faults.ts';
import { listConfigKeys } from '../src/lab/config/config-json-schema.ts';
import { bankSignals, signalBankOptions } from '../src/rank/signals/bank/options.ts';
import { SIGNALS } from '../src/rank/signals/registry.cases.ts';

/** Pages that are written at build time, from what the program itself reads: no page can be older than the code. */

type Row = readonly string[];

const toCode = (text: unknown) => `\`${String(text)}\``;

function formatTable(header: Row, rows: readonly Row[]): string {
  const format = (row: Row) =>
    `| ${row.map((cell) => cell.replace(/(?<!\\)\|/g, '\\|').replaceAll('\n', ' ')).join(' | ')} |`;
  return [format(header), format(header.map(() => '---')), ...rows.map(format)].join('\n');
}

function describeBounds({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Schema): string {
  const bound = (sign: string, value: number | undefined) =>
    value === undefined || Math.abs(value) === Number.MAX_SAFE_INTEGER ? [] : [`${sign} ${value}`];
  const bounds = [
    ...bound('≥', minimum),
    ...bound('>', exclusiveMinimum),
    ...bound('≤', maximum),
    ...bound('<', exclusiveMaximum),
  ];
  return bounds.length === 0 ? '' : ` ${bounds.join(', ')}`;
}

function describeType(schema: Schema): string {
  const types = listAlternatives(schema).map((one) => {
    if (one.enum !== undefined) return one.enum.map(toCode).join(', ');
    if (one.const !== undefined) return toCode(one.const);
    if (one.items && !one.items.properties) return `list of ${describeType(one.items)}`;
    return `${[one.type ?? 'any'].flat().join(' or ')}${describeBounds(one)}`;
  });
  return [...new Set(types)].join(' or ');
}

function describeDefault({ required, schema }: Key): string {
  if (required) return 'required';
  return schema.default === undefined ? '' : toCode(JSON.stringify(schema.default));
}

function writeConfigReference(root: string): string {
  const documented = indexDocumentedRows(readFileSync(join(root, 'docs/config.md'), 'utf8'));
  const keys = listConfigKeys().filter(({ schema }) => !isKind(schema));
  const sections = new Map<string, Key[]>();
  for (const key of keys) {
    const section = /^\w+/.exec(key.id)?.[0] as string;
    sections.set(section, [...(sections.get(section) ?? []), key]);
  }
  const tables = [...sections].map(([section, found]) => {
    const rows = found.map((key) => [
      toCode(key.id),
      describeType(key.schema),
      describeDefault(key),
      documented
        .get(key.id)
        ?.meaning.replace(/\]\(#/g, '](../docs/config.md#')
        .replace(/\]\((?!\.\.|#|[a-z]+:)/g, '](../docs/') ?? '',
    ]);
    return `## ${toCode(section)}\n\n${formatTable(['key', 'type', 'default', 'meaning'], rows)}`;
  });
  return `# Reference of the config

${keys.length} keys, from the schema that checks a config. A key that depends on another one names it: \`candidates[] index: hnsw.efSearch\`.
[Config](../docs/config.md) explains them with examples.

${tables.join('\n\n')}
`;
}

function writeSignalReference(): string {
  const chain = SIGNALS.map(({ definition: { name, summary } }) => [toCode(name), summary]);
  const bank = bankSignals(signalBankOptions.parse({}));
  const rows = bank.map(({ name, summary, reads }) => [toCode(name), summary, reads.join(', ')]);
  const header = ['signal', 'what it is', 'reads'];
  return `# Reference of the signals

From the definitions of the signals. [Signals](../docs/signals.md) explains names, groups and contexts.

## Of a chain

${formatTable(['signal', 'what it is'], chain)}

## Of the bank

${bank.length} signals with the options by default.

${formatTable(header, rows)}
`;
}

function writeMetricReference(): string {
  const rows = METRICS.members.map((metric) => {
    const { name, cutoff, ranksOnly, parameter, description, define } = metric;
    const start = parameter === undefined ? name : `${name}(${parameter.example})`;
    const reaches = cutoff === 'none' ? [] : ranksOnly ? ['@10'] : ['@10', '@500t'];
    const forms = [...(cutoff === 'required' ? [] : ['']), ...reaches].map((reach) => toCode(`${start}${reach}`));
    const within = cutoff === 'required' ? ' among the first 10' : '';
    const k = cutoff === 'required' ? 10 : Number.POSITIVE_INFINITY;
    return [forms.join(', '), description, define(within, k, parameter?.example)];
  });
  return `# Reference of the metrics

From the registry of metrics. \`@10\` is a depth, \`@500t\` a budget of tokens. Names of trec_eval and ir_measures are
accepted too ([metrics](../docs/config.md#metrics)).

${formatTable(['forms', 'what it is', 'definition'], rows)}
`;
}

/** The help that a command prints below its options. */
function readHelpText(command: Command): string {
  let text = '';
  command.configureOutput({ writeOut: (part) => (text += part) });
  command.outputHelp();
  return text.slice(command.helpInformation().length).trim();
}

function describeCommand(command: Command, typed: string, depth: number): string {
  const help = command.createHelp();
  const name = `${typed} ${command.name()}`;
  const table = (header: Row, rows: readonly Row[]) => (rows.length === 0 ? [] : [formatTable(header, rows)]);
  const taken = help.visibleArguments(command).map((one) => [toCode(one.name()), help.argumentDescription(one)]);
  const options = help
    .visibleOptions(command)
    .filter(({ long }) => long !== '--help')
    .map((one) => [toCode(help.optionTerm(one)), help.optionDescription(one)]);
  const text = readHelpText(command);
  return [
    `${'#'.repeat(depth)} ${toCode(name)}`,
    `${help.commandDescription(command)}.`,
    ...(command.commands.length === 0 ? [`\`\`\`text\n${name} ${command.usage()}\n\`\`\``] : []),
    ...table(['argument', 'meaning'], taken),
    ...table(['option', 'meaning'], options),
    ...(text === '' ? [] : [`\`\`\`text\n${text}\n\`\`\``]),
    ...command.commands.map((inner) => describeCommand(inner, name, depth + 1)),
  ].join('\n\n');
}

const program = await buildProgram();

function writeCommandReference(): string {
  const commands = program
    .createHelp()
    .visibleCommands(program)
    .filter((command) => command.name() !== 'help');
  const described = commands.map((command) => describeCommand(command, 'ragpp', 2));
  return `# Reference of the commands\n\nAs \`--help\` prints them. [Commands](../docs/commands.md) has examples.\n\n${described.join('\n\n')}\n`;
}

const REFERENCE = 'reference';

/** The generated pages: a title for the navigation, a path beside the pages of the project, and Markdown. */
export function writeReference(root: string): { title: string; file: string; markdown: string }[] {
  return [
    { title: 'Config keys', file: `${REFERENCE}/config.md`, markdown: writeConfigReference(root) },
    { title: 'Signals', file: `${REFERENCE}/signals.md`, markdown: writeSignalReference() },
    { title: 'Metrics', file: `${REFERENCE}/metrics.md`, markdown: writeMetricReference() },
    { title: 'Commands', file: `${REFERENCE}/commands.md`, markdown: writeCommandReference() },
  ];
}
