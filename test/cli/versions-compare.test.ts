import { tmpdir } from 'node:os';
import { expect, test } from 'vitest';
import { promote } from '../support/promote.ts';
import { sharedServer } from '../support/shared-server.ts';
import { finished } from './in-process.ts';

test('versions compare prints tasks, options and deployments, by default of the current version and the one before', async () => {
  const server = await sharedServer();
  const register = async (digit: string, tasks: readonly object[]): Promise<string> => {
    const { body } = await server.ask('/runner/v1/versions', {
      method: 'POST',
      body: { contentHash: digit.repeat(64), tasks },
    });
    return promote(server.url, server.keys.prod, body.version);
  };
  const command = (...args: string[]) =>
    finished(['versions', 'compare', ...args, '--url', server.url, '--key', server.keys.prod], {
      cwd: tmpdir(),
    });
  const first = await register('a', [{ id: 'checkout', filePath: 'shop.ts', ttl: 60 }]);
  const alone = await command();
  expect(alone).toMatchObject({ exitCode: 1, stdout: '' });
  expect(alone.stderr).toContain(`no version before ${first} has been current`);

  const second = await register('b', [
    { id: 'checkout', filePath: 'shop.ts', ttl: 90 },
    { id: 'refund', filePath: 'shop.ts' },
  ]);
  const { exitCode, stdout } = await command();
  expect(exitCode).toBe(0);
  const lines = stdout.split('\n').map((line) => line.replaceAll(/ {2,}/g, ' | '));
  expect(lines).toContain(`${first} (drained) → ${second} (current)`);
  expect(lines).toContain('refund | added | – → 0 | – → – | – → – | – → –');
  expect(lines).toContain('checkout | changed | 0 → 0 | – → – | – → – | – → –');
  expect(lines).toContain('ttl | 60 | 90');
  expect((await command(first, second)).stdout).toBe(stdout);

  const json = await command(second, first, '--json');
  expect(JSON.parse(json.stdout)).toMatchObject({
    before: { version: first },
    after: { version: second },
    tasks: [
      { id: 'refund', change: 'added' },
      { id: 'checkout', changes: [{ field: 'ttl', before: 60, after: 90 }] },
    ],
  });
  for (const [args, message] of [
    [[second, second], `this is also version ${second}. Send another version`],
    [['20200101.1'], 'has no version "20200101.1"'],
  ] as const) {
    const refused = await command(...args);
    expect(refused).toMatchObject({ exitCode: 1, stdout: '' });
    expect(refused.stderr).toContain(message);
  }
});
