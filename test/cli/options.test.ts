import { expect, test } from 'vitest';
import { program } from '../../packages/millrace/src/cli/program.ts';
import { leaves } from './leaves.ts';

/** Commands that speak to no server, or to the one that they start, and `logout`, which is about the login that is kept. */
const alone = new Set([
  'init',
  'dev',
  'demo',
  'doctor',
  'start',
  'help',
  'logout',
  'schedules preview',
  'keys rotate-master',
  'backup create',
  'backup list',
  'restore',
  'upgrade-data',
]);

test('every command that speaks to a server takes --url, --key and --dir, and every command --json', () => {
  const lacking = [...leaves()].flatMap(([name, { options }]) => {
    const wanted = alone.has(name) ? ['--json'] : ['--url', '--key', '--dir', '--json'];
    const missing = wanted.filter((option) => !options.some(({ long }) => long === option));
    return missing.length > 0 ? [`${name}: ${missing.join(' ')}`] : [];
  });
  expect(lacking).toEqual([]);
});

const withArguments = [...leaves()].flatMap(([name, { registeredArguments }]) =>
  registeredArguments.length > 0 ? [{ name, count: registeredArguments.length }] : [],
);

test.each(withArguments)('an empty argument of $name is a wrong command line', async ({ name, count }) => {
  let said = '';
  const root = program();
  const quiet = (command: typeof root): void => {
    command.configureOutput({ writeErr: (text) => (said += text), outputError: (text) => (said += text) });
    for (const sub of command.commands) quiet(sub);
  };
  quiet(root);
  // Those that read a number refuse it on their own, and a required option that is missing is told first.
  const args = [...name.split(' '), ...Array.from({ length: count }, () => '')];
  await expect(root.parseAsync(args, { from: 'user' })).rejects.toMatchObject({ name: 'CommanderError' });
  expect(said).toMatch(/^error: [^\n]*(is empty|is invalid|required option)[^\n]*\n/);
});
