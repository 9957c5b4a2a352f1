import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import type { Command } from 'commander';
import { describe, expect, test } from 'vitest';
import { findBuiltUrl } from '../core/built-module.harness.ts';
import { projectVersion } from '../lab/run/environment.ts';
import { runRagpp } from './command.harness.ts';
import { buildProgram } from './program.ts';

const program = await buildProgram();
/** Those that are not for people are left out. */
const visible = program
  .createHelp()
  .visibleCommands(program)
  .filter((command) => command.name() !== 'help');

/** A command and those within it, each with the words that it is called by. */
function withInner(command: Command, typed: readonly string[]): [string, Command][] {
  const inner = command.commands.flatMap((child) => withInner(child, [...typed, child.name()]));
  return [[typed.join(' '), command], ...inner];
}
const commands = visible.flatMap((command) => withInner(command, [command.name()]));

/** Words of a help text without its line breaks. */
const joinHelpLines = (text: string) => text.replace(/\s+/g, ' ');

describe('help', () => {
  test('of the program describes every command, and says what exit codes mean', async () => {
    const { code, stdout, stderr } = await runRagpp('--help');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(visible.map((command) => command.name())).toEqual(expect.arrayContaining(['run', 'config', 'verify']));
    for (const command of visible) {
      const name = command.name();
      expect(existsSync(new URL(`${name}.ts`, import.meta.url)), `one file a command: ${name}.ts`).toBe(true);
      expect(stdout).toMatch(new RegExp(`^ {2}${name} `, 'm'));
      expect(command.description()).toMatch(/^[a-z]/);
      expect(joinHelpLines(stdout)).toContain(command.description());
    }
    expect(joinHelpLines(stdout)).toContain(
      'Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 130 interrupted (143 by SIGTERM).',
    );
  });

  test.each(commands)('of %s describes every option and argument', async (name, command) => {
    const { code, stdout } = await runRagpp(...name.split(' '), '--help');
    expect(code).toBe(0);
    expect(stdout.startsWith(`Usage: ragpp ${name}`)).toBe(true);
    for (const { flags, description } of command.options) {
      expect(description.length, flags).toBeGreaterThan(10);
      expect(joinHelpLines(stdout)).toContain(`${flags} ${joinHelpLines(description)}`);
    }
    for (const argument of command.registeredArguments) {
      expect(argument.description.length, argument.name()).toBeGreaterThan(5);
      expect(joinHelpLines(stdout)).toContain(argument.description);
    }
    expect(stdout.split('\n').filter((line) => line.length > 120)).toEqual([]);
  });
});

test('the version is that of the package', async () => {
  expect(await runRagpp('--version')).toEqual({ code: 0, stdout: `${projectVersion()}\n`, stderr: '' });
});

describe('wrong usage exits with 2, says what is wrong, and where help is', () => {
  test.each([
    ['no command', [], /Usage: ragpp/],
    ['a command that is none', ['rnu'], /unknown command 'rnu'\n\(Did you mean run\?\)\n\(see ragpp --help\)/],
    [
      'an option that is none',
      ['verify', '--bakend', 'cpu'],
      /unknown option '--bakend'\n\(Did you mean --backend\?\)\n\(see ragpp verify --help\)/,
    ],
    [
      'a backend that is none',
      ['run', 'x.yaml', '--backend', 'cdua'],
      /argument 'cdua' is invalid. Allowed choices are auto, cuda/,
    ],
    ['no config', ['run'], /missing required argument 'config'\n\(see ragpp run --help\)/],
    ['an argument too many', ['doctor', 'x'], /too many arguments/],
    ['an option without its value', ['run', 'x.yaml', '--set'], /option '--set <path=value>' argument missing/],
  ])('%s', async (_, argv, message) => {
    const { code, stdout, stderr } = await runRagpp(...argv);
    expect(code).toBe(2);
    expect(stdout).toBe('');
    expect(stderr).toMatch(message);
  });
});

test('no command leaves an exit code behind for the next', async () => {
  expect((await runRagpp('rnu')).code).toBe(2);
  expect((await runRagpp('--version')).code).toBe(0);
  expect(process.exitCode).toBeUndefined();
});

/** On what passes for a terminal, a command that fails while a stage is open. */
const FAILING = `
  import { createTerminalProgress } from ${JSON.stringify(findBuiltUrl('core/terminal/progress'))};
  import { main } from ${JSON.stringify(findBuiltUrl('cli/program'))};
  process.stderr.isTTY = true;
  createTerminalProgress()('arms', 7).update(2);
  process.exitCode = await main(['run', 'none.yaml']);`;

test('an error within a stage ends the program, below its bar, with the cursor back', async () => {
  const options = ['--input-type=module', '--eval', FAILING];
  const child = spawn(process.execPath, options, { stdio: ['ignore', 'ignore', 'pipe'], timeout: 30_000 });
  const ended = new Promise((resolve) => child.once('close', (...end) => resolve(end)));
  const written = await text(child.stderr);
  expect(await ended).toEqual([2, null]);
  const [bar, error] = written.split('\x1b[?25h');
  expect(bar?.split('\x1b[?25l')[1]).toMatch(/arms .* 28% /);
  expect(error).toMatch(
    /\nragpp \[CONFIGURATION\]: 1 error in none\.yaml; correct and run again:\n[^\n]*none\.yaml'\n$/,
  );
});
