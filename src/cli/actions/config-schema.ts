import { writeAtomic } from '../../core/files/files.ts';
import { printError, printOut } from '../../core/terminal/terminal.ts';
import { buildConfigJsonSchema } from '../../lab/config/config-json-schema.ts';

/** The schema as the text of a file. */
export function formatConfigSchema(): string {
  return `${JSON.stringify(buildConfigJsonSchema(), null, 2)}\n`;
}

interface SchemaFlags {
  readonly out?: string;
}

export function printSchema({ out }: SchemaFlags): void {
  const text = formatConfigSchema();
  if (out === undefined) {
    printOut(text);
    return;
  }
  writeAtomic(out, text);
  printError(`schema: ${out}\n`);
}
