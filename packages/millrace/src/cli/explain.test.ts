import { describe, expect, test } from 'vitest';
import { CommanderError } from 'commander';
import { CommandFailed, exitCodes } from './exit-codes.ts';
import { explain } from './explain.ts';

class DataFolderInUse extends Error {
  override name = 'DataFolderInUse';
}
class AuthenticationError extends Error {
  override name = 'AuthenticationError';
}

describe('the exit code for an error', () => {
  test('a folder in use is a failed start', () => {
    expect(explain(new DataFolderInUse('in use'))).toEqual({ exitCode: 3, sentence: 'in use' });
  });

  test('a rejected key counts as an unreachable server', () => {
    expect(explain(new AuthenticationError('401'))).toEqual({ exitCode: 4, sentence: '401' });
  });

  test('a command can set its exit code', () => {
    expect(explain(new CommandFailed(exitCodes.usage, 'no'))).toEqual({ exitCode: 2, sentence: 'no' });
  });

  test('help succeeds, an invalid command line fails, and neither is printed twice', () => {
    expect(explain(new CommanderError(0, 'commander.helpDisplayed', ''))).toEqual({ exitCode: 0 });
    expect(explain(new CommanderError(1, 'commander.unknownOption', 'x'))).toEqual({ exitCode: 2 });
  });

  test('prints a stack for an internal error but not for a server response', () => {
    const reply = Object.assign(new Error('404 Not found'), { status: 404 });
    expect(explain(reply)).toEqual({ exitCode: 1, sentence: '404 Not found' });
    const help = 'docs/troubleshooting.md#not-found';
    expect(explain(Object.assign(reply, { help }))).toEqual({ exitCode: 1, sentence: '404 Not found', help });
    expect(explain(new TypeError('x is not a function')).sentence).toMatch(/explain\.test/);
  });
});
