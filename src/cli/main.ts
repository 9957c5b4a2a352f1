#!/usr/bin/env node
import { findOwnProgram } from '../lab/launch/own-process.ts';
import { isService, supervise } from './process/supervision.ts';

const argv = process.argv.slice(2);
if (isService(argv)) await import('./work.ts');
else process.exitCode = await supervise(findOwnProgram(), argv);
