import { join } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { createTerminalProgress, printOut } from '../../core/terminal/progress.ts';
import { parse } from '../../core/validation/validation.ts';
import { DATASETS, type DatasetOptions, datasetOptions, loadDataset } from '../../data/registry.ts';
import { applyOverrides } from '../../lab/composition/config-file.ts';
import type { Dataset } from '../../model/dataset.ts';
import { alignColumns } from '../process/columns.ts';

/** The part of JSON Schema that zod writes for options. */
interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly default?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** An option of a dataset, for display. */
interface DatasetOption {
  readonly name: string;
  /** For example `text`, or `error or skip`. */
  readonly takes: string;
  readonly required: boolean;
  /** Absent if there is no default. */
  readonly default?: unknown;
}

const WORDS: Readonly<Record<string, string>> = {
  string: 'text',
  boolean: 'true or false',
  object: 'mapping',
};

function describeSchemaType({ type = 'anything', const: only, enum: choices, anyOf, items }: Schema): string {
  if (only !== undefined) return String(only);
  if (choices !== undefined) return choices.join(' or ');
  if (anyOf !== undefined) return anyOf.map(describeSchemaType).join(' or ');
  if (items !== undefined) return `list of ${describeSchemaType(items)}`;
  return WORDS[type] ?? type;
}

/** The keys of `dataset` in a config besides the name, in the order of the schema. */
export function listDatasetOptions(dataset: DatasetOptions['name']): DatasetOption[] {
  const { options } = DATASETS.get(dataset);
  const { properties = {}, required = [] } = z.toJSONSchema(options, { io: 'input' }) as Schema;
  return Object.entries(properties)
    .filter(([name]) => name !== 'name')
    .map(([name, schema]) => ({
      name,
      takes: describeSchemaType(schema),
      required: required.includes(name),
      ...(schema.default === undefined ? {} : { default: schema.default }),
    }));
}

/** Rows below a heading, set in from it. */
function formatDataBlock(heading: string, rows: readonly (readonly string[])[]): string {
  return `${heading}\n${alignColumns(rows).replace(/^/gm, '  ')}\n`;
}

function describeOption({ takes, required, default: preset }: DatasetOption): string {
  if (required) return `${takes}; required`;
  return preset === undefined ? takes : `${takes}; default ${JSON.stringify(preset)}`;
}

function list(): string {
  const blocks = DATASETS.names.map((name) => {
    const { description, licence, source } = DATASETS.get(name);
    const options = listDatasetOptions(name).map((option) => [option.name, describeOption(option)]);
    return formatDataBlock(`${name}: ${description}`, [['licence', licence], ['source', source], ...options]);
  });
  return blocks.join('\n');
}

/** What the dataset declares not to have. */
function describeLacking({ times, threads }: Dataset['declaration']): string[][] {
  const rows: string[][] = [];
  if (times === 'order') rows.push(['times', 'made up from an order; arms that need times are refused']);
  if (times === 'none') rows.push(['times', 'none; arms that need times are refused']);
  if (threads === 'none') rows.push(['threads', 'none; arms that need threads are refused']);
  return rows;
}

function describe({
  name,
  declaration,
  corpus,
  relevantGrade,
  gradeNames,
  devConversations,
  facts,
  hash,
}: Dataset): string {
  const grades = Object.entries(gradeNames).map(([grade, word]) => `${grade} ${word}`);
  const about = formatDataBlock(name, [
    ['task', declaration.task],
    ['features', declaration.features.join(', ')],
    ['licence', declaration.licence],
    ...describeLacking(declaration),
    ['grades', [...grades, `relevant from ${relevantGrade}`].join(', ')],
    ['dev', `${devConversations.size} of ${corpus.conversations.length} conversations`],
    ['hash', hash],
  ]);
  const counts = Object.entries(facts).map(([fact, count]) => [fact, String(count)]);
  return `${about}\n${formatDataBlock('facts', counts)}`;
}

interface DataFlags {
  readonly set: readonly string[];
  readonly cache: string;
}

export async function runDataCommand(
  name: string | undefined,
  { set, cache }: DataFlags,
  command: Command,
): Promise<void> {
  if (name === undefined) {
    if (set.length > 0) command.error('error: --set without the name of a dataset; give the name', { exitCode: 2 });
    printOut(list());
    return;
  }
  const options = parse(datasetOptions, applyOverrides({ name }, set), 'the dataset');
  const dataset = await loadDataset(options, {
    cacheFolder: join(cache, 'datasets'),
    progress: createTerminalProgress(),
  });
  printOut(describe(dataset));
}
