import { expect, it } from 'vitest';
import { leaves } from './leaves.ts';

/** Commands that speak to no server, or to the one that they start, and `logout`, which is about the login that is kept. */
const alone = new Set(['init', 'dev', 'start', 'logout', 'schedules preview', 'keys rotate-master']);

it('every command that speaks to a server takes --url, --key and --dir, and every command --json', () => {
  const lacking = [...leaves()].flatMap(([name, { options }]) => {
    const wanted = alone.has(name) ? ['--json'] : ['--url', '--key', '--dir', '--json'];
    const missing = wanted.filter((option) => !options.some(({ long }) => long === option));
    return missing.length > 0 ? [`${name}: ${missing.join(' ')}`] : [];
  });
  expect(lacking).toEqual([]);
});
