import { join } from 'node:path';
import { listBrokenLinks } from './broken-links.ts';
import { buildSite } from './build.ts';

const root = join(import.meta.dirname, '..');
const target = join(root, 'site');
const pages = buildSite(root, target);
const broken = listBrokenLinks(target);
for (const link of broken) console.error(`broken link: ${link}`);
console.log(`${pages} pages: ${join(target, 'index.html')}`);
process.exitCode = broken.length === 0 ? 0 : 1;
