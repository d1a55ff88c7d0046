import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { exitCodes } from './exit-codes.ts';
import { readSecrets } from './secret-files.ts';

function fileWith(text: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-secret-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, 'secret'), text);
  return join(folder, 'secret');
}

test('reads a secret from its file without the line end, and unsets the variable of the file', () => {
  const env = { MILLRACE_MASTER_KEY_FILE: fileWith('abc\n'), DATABASE_URL_FILE: ' ', OTHER_FILE: '/nowhere' };
  readSecrets(env);
  expect(env).toEqual({ MILLRACE_MASTER_KEY: 'abc', OTHER_FILE: '/nowhere' });
});

test('an empty variable next to the file counts as unset', () => {
  const env = { DATABASE_URL: '', DATABASE_URL_FILE: fileWith('postgres://db/millrace') };
  readSecrets(env);
  expect(env).toEqual({ DATABASE_URL: 'postgres://db/millrace' });
});

test.each([
  [
    () => ({ MILLRACE_SECRET_KEY: 'a', MILLRACE_SECRET_KEY_FILE: fileWith('b') }),
    exitCodes.usage,
    /^Both MILLRACE_SECRET_KEY and MILLRACE_SECRET_KEY_FILE are set/,
  ],
  [
    () => ({ MILLRACE_MASTER_KEY_FILE: '/nowhere/key' }),
    exitCodes.cannotStart,
    /^The file of MILLRACE_MASTER_KEY_FILE cannot be read: ENOENT/,
  ],
  [() => ({ MILLRACE_MASTER_KEY_FILE: '/' }), exitCodes.cannotStart, /cannot be read: EISDIR/],
  [
    () => ({ DATABASE_URL_FILE: fileWith(' \n') }),
    exitCodes.cannotStart,
    /^The file of DATABASE_URL_FILE is empty: /,
  ],
])('the error for an invalid setting contains the variable (%#)', (env, exitCode, message) => {
  expect(() => readSecrets(env())).toThrow(
    expect.objectContaining({ exitCode, message: expect.stringMatching(message) as string }),
  );
});

test('reads a secret from the output of a command, and unsets the variable of the command', () => {
  const env = { MILLRACE_MASTER_KEY_COMMAND: "printf ' abc\\n'", DATABASE_URL_COMMAND: ' ' };
  readSecrets(env);
  expect(env).toEqual({ MILLRACE_MASTER_KEY: 'abc' });
});

test.each([
  [
    { MILLRACE_MASTER_KEY: 'a', MILLRACE_MASTER_KEY_COMMAND: 'echo b' },
    exitCodes.usage,
    /^Both MILLRACE_MASTER_KEY and MILLRACE_MASTER_KEY_COMMAND are set/,
  ],
  [
    { MILLRACE_MASTER_KEY_FILE: '/a', MILLRACE_MASTER_KEY_COMMAND: 'echo b' },
    exitCodes.usage,
    /^Both MILLRACE_MASTER_KEY_FILE and MILLRACE_MASTER_KEY_COMMAND are set/,
  ],
  [
    { MILLRACE_MASTER_KEY_COMMAND: 'echo secret; echo first >&2; echo no access >&2; exit 7' },
    exitCodes.cannotStart,
    /^The command of MILLRACE_MASTER_KEY_COMMAND ended with 7: no access$/,
  ],
  [
    { DATABASE_URL_COMMAND: 'true' },
    exitCodes.cannotStart,
    /^The command of DATABASE_URL_COMMAND printed nothing$/,
  ],
])('the error for a failed command does not contain its output (%#)', (env, exitCode, message) => {
  expect(() => readSecrets({ ...env })).toThrow(
    expect.objectContaining({ exitCode, message: expect.stringMatching(message) as string }),
  );
});
