import { writeAtomic } from '../../core/files.ts';
import { printError, printOut } from '../../core/terminal.ts';
import { buildConfigJsonSchema } from '../../experiment/config/config-json-schema.ts';

/** The schema as the text of a file. */
export function formatConfigSchema(): string {
  return `${JSON.stringify(buildConfigJsonSchema(), null, 2)}\n`;
}

export function printSchema({ out }: { readonly out?: string }): void {
  if (out === undefined) {
    printOut(formatConfigSchema());
    return;
  }
  writeAtomic(out, formatConfigSchema());
  printError(`schema: ${out}\n`);
}
