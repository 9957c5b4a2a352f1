#!/usr/bin/env node
import { findOwnProgram } from '../experiment/launch/program.ts';
import { supervise } from './supervision.ts';

process.exitCode = await supervise(findOwnProgram(), process.argv.slice(2));
