import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readApi } from './api/declarations.ts';
import { writeApiLists } from './api/lists.ts';
import { listBrokenLinks } from './broken-links.ts';
import { buildSite } from './build.ts';

const root = join(import.meta.dirname, '..');
const target = join(root, 'site');
const { values } = parseArgs({ options: { api: { type: 'boolean' } } });
const api = readApi(root);
if (values.api) for (const { file, text } of writeApiLists(api)) writeFileSync(join(root, file), text);
const pages = buildSite(root, target, api);
const broken = listBrokenLinks(target);
for (const link of broken) console.error(`broken link: ${link}`);
console.log(`${pages} pages: ${join(target, 'index.html')}`);
process.exitCode = broken.length === 0 ? 0 : 1;
