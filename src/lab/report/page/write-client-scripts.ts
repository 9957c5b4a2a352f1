import { join } from 'node:path';
import { writeAtomic } from '../../../core/files/files.ts';
import { bundleClientScript, CLIENT_PAGES } from './client-script.ts';

// a step of `npm run build`: writes the script of each kind of page into the folder that the built package reads
const folder = process.argv[2];
if (folder === undefined) throw new Error('no folder given; pass the folder of the scripts');
for (const page of CLIENT_PAGES) writeAtomic(join(folder, `${page}.js`), bundleClientScript(page));
