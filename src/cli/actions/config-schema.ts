import { writeAtomic } from '../../core/files/files.ts';
import { printError, printOut } from '../../core/terminal/terminal.ts';
import { buildConfigJsonSchema } from '../../lab/config/config-json-schema.ts';
import { buildTrainingJsonSchema } from '../../lab/training/training-json-schema.ts';

/** The schema as the text of a file. */
export function formatConfigSchema(schema = buildConfigJsonSchema()): string {
  return `${JSON.stringify(schema, null, 2)}\n`;
}

interface SchemaFlags {
  readonly out?: string;
  readonly training?: true;
}

export function printSchema({ out, training }: SchemaFlags): void {
  const text = formatConfigSchema(training === true ? buildTrainingJsonSchema() : buildConfigJsonSchema());
  if (out === undefined) {
    printOut(text);
    return;
  }
  writeAtomic(out, text);
  printError(`schema: ${out}\n`);
}
