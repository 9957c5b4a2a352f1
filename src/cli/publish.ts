import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { z } from 'zod';
import { ValidationError } from '../core/errors.ts';
import { readBytes, readText, writeAtomic } from '../core/files.ts';

/** The small files of a run that are worth keeping in the repository, besides the weights of a training. */
const PUBLISHED = ['config.yaml', 'environment.json', 'metrics.json', 'table.md'] as const;

function markers(experiment: string): { readonly start: string; readonly end: string } {
  return { start: `<!-- results/${experiment}/table.md -->`, end: '<!-- end of table -->' };
}

/**
 * The document with the block of an experiment replaced by its table.
 *
 * @throws ValidationError when the document has no such block.
 */
export function withTable(document: string, experiment: string, table: string): string {
  const { start, end } = markers(experiment);
  const from = document.indexOf(start);
  const to = document.indexOf(end, from);
  if (from < 0 || to < 0)
    throw new ValidationError(`document has no block from "${start}" to "${end}" for experiment: ${experiment}`, {
      experiment,
    });
  return `${document.slice(0, from)}${start}\n\n${table.trim()}\n\n${document.slice(to)}`;
}

/** @throws ValidationError for a file that is not one of a run. */
function experimentOf(path: string): string {
  const text = readText(path);
  try {
    return z.object({ experiment: z.string() }).parse(JSON.parse(text)).experiment;
  } catch (error) {
    throw new ValidationError(`file does not name its experiment: ${path}`, { path }, { cause: error });
  }
}

function publish(runFolder: string, options: { document: string; results: string }): void {
  const files = PUBLISHED.map((name) => [name, readText(join(runFolder, name))] as const);
  const experiment = experimentOf(join(runFolder, 'metrics.json'));
  const table = readText(join(runFolder, 'table.md'));
  const document = withTable(readText(options.document), experiment, table);
  for (const [name, text] of files) writeAtomic(join(options.results, experiment, name), text);
  for (const name of readdirSync(runFolder).filter((file) => file.endsWith('.safetensors')))
    writeAtomic(join(options.results, experiment, name), readBytes(join(runFolder, name)));
  writeAtomic(options.document, document);
  process.stdout.write(`published ${join(options.results, experiment)} and its table in ${options.document}\n`);
}

export function publishCommand(): Command {
  return new Command('publish')
    .description(
      "copy a run's config, environment, metrics, table and weights to results/, and its table into a document",
    )
    .argument('<run-folder>', 'results/runs/<experiment>-<hash>')
    .option(
      '--document <file>',
      'Markdown with the lines <!-- results/<experiment>/table.md --> and <!-- end of table -->',
      'README.md',
    )
    .option('--results <folder>', 'where published runs are kept', 'results')
    .action(publish);
}
