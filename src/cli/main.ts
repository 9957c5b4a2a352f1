#!/usr/bin/env node
import { findOwnProgram } from '../experiment/launch/program.ts';
import { isService } from './service-process.ts';
import { supervise } from './supervision.ts';

const argv = process.argv.slice(2);
if (isService(argv)) await import('./work.ts');
else process.exitCode = await supervise(findOwnProgram(), argv);
