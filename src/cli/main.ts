#!/usr/bin/env node
import { thisProgram } from '../experiment/launch/program.ts';
import { supervise } from './supervision.ts';

process.exitCode = await supervise(thisProgram(), process.argv.slice(2));
