import { expect, test } from 'vitest';
import { program } from '../../packages/millrace/src/cli/program.ts';
import { leaves } from './leaves.ts';

/** Commands that use no server, or the one that they start, and `logout`, which uses the stored login. */
const alone = new Set([
  'init',
  'dev',
  'demo',
  'doctor',
  'start',
  'help',
  'completion',
  'logout',
  'schedules preview',
  'keys rotate-master',
  'backup create',
  'backup list',
  'restore',
  'upgrade-data',
  'sql-views sql',
  'sql-views install',
  'sql-views grant',
  'sql-views revoke',
]);

test('every command that uses a server accepts --url, --key and --dir, and every command --json', async () => {
  const lacking = [...leaves(await program())].flatMap(([name, { options }]) => {
    const required = alone.has(name) ? ['--json'] : ['--url', '--key', '--dir', '--json'];
    const missing = required.filter((option) => !options.some(({ long }) => long === option));
    return missing.length > 0 ? [`${name}: ${missing.join(' ')}`] : [];
  });
  expect(lacking).toEqual([]);
});

test('every command that accepts the key of an environment accepts --env, which rejects the key of another one', async () => {
  const acting = [...leaves(await program())].filter(
    ([name, { options }]) =>
      !alone.has(name) &&
      options.some(({ description }) => description.startsWith('secret key of the environment')),
  );
  expect(acting.length).toBeGreaterThan(70);
  const lacking = acting.filter(([, { options }]) => !options.some(({ long }) => long === '--env'));
  expect(lacking.map(([name]) => name)).toEqual([]);
  const key = 'svc_dev_sk_000000000000000000000000';
  for (const line of [
    'versions rollback',
    'versions list',
    'trigger a',
    'env list',
    'runs list',
    'deploy',
    'work',
    'outbox sql',
  ]) {
    const args = [...line.split(' '), '--url', 'http://127.0.0.1:9', '--key', key, '--env', 'prod'];
    const root = await program();
    await expect(root.parseAsync(args, { from: 'user' }), line).rejects.toThrow(
      'The key belongs to dev, but --env is prod. Use the key of prod.',
    );
  }
});

const withArguments = [...leaves(await program())].flatMap(([name, { registeredArguments }]) =>
  registeredArguments.length > 0 ? [{ name, count: registeredArguments.length }] : [],
);

test.each(withArguments)('an empty argument of $name is an invalid command line', async ({ name, count }) => {
  let output = '';
  const root = await program();
  const quiet = (command: typeof root): void => {
    command.configureOutput({
      writeErr: (text) => (output += text),
      outputError: (text) => (output += text),
    });
    for (const sub of command.commands) quiet(sub);
  };
  quiet(root);
  // Commands that read a number reject it on their own, and a missing required option is reported first.
  const args = [...name.split(' '), ...Array.from({ length: count }, () => '')];
  await expect(root.parseAsync(args, { from: 'user' })).rejects.toMatchObject({ name: 'CommanderError' });
  expect(output).toMatch(/^error: [^\n]*(is empty|is invalid|required option)[^\n]*\n/);
});
