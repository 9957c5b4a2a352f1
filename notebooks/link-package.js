// Makes `rag-plusplus` resolve to this checkout. A dependency `file:..` would copy the dependencies of the root into package-lock.json.
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';

mkdirSync('node_modules', { recursive: true });
rmSync('node_modules/rag-plusplus', { force: true, recursive: true });
symlinkSync('../..', 'node_modules/rag-plusplus', 'dir');
