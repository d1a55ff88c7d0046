import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { unmetPrerequisites } from '../../faults/prerequisites.ts';
import type { Result } from '../../faults/scenarios/run.ts';
import { isLong } from '../support/long.ts';

const reasons = isLong ? unmetPrerequisites() : ['npm run test:long runs it.'];
const suite = fileURLToPath(new URL('../../faults/main.ts', import.meta.url));

test.skipIf(reasons.length > 0)(
  `the short form of the fault suite breaks no promise${reasons.length > 0 ? ` (skipped: ${reasons.join(' ')})` : ''}`,
  { timeout: 900_000 },
  async () => {
    const seed = process.env['MILLRACE_TEST_SEED'];
    const args = [suite, '--short', '--json', ...(seed ? ['--seed', seed] : [])];
    const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const [output, progress, [code]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'exit'),
    ]);
    expect(code, progress).toBe(0);
    const { results } = JSON.parse(output) as { results: Result[] };
    expect(results.map(({ scenario, lost, doubled }) => ({ scenario, lost, doubled }))).toEqual(
      ['leader-killed', 'leader-cut-off', 'runner-half-open'].map((scenario) => ({
        scenario,
        lost: 0,
        doubled: 0,
      })),
    );
  },
);
