/** A new user follows docs/singleton.md: its task, commands and code, next to `millrace dev`. */
import { runs, tasks } from '@millrace/sdk';
import { expect, test } from 'vitest';
import { besideDev, blocksOf } from '../cli/documented-page.ts';

const blocks = await blocksOf('singleton.md');
const [task = ''] = blocks('ts');
const [commands = ''] = blocks('sh');

// Its runs last longer than a command takes to start on a slow machine.
const { cli } = besideDev({ 'tasks/sync.ts': task.replace('1_000', '6_000') });

test('its commands trigger, and show when a trigger led to an existing run', async () => {
  const lines = commands.trim().split('\n');
  for (const line of lines) {
    const [, payload = '', key = ''] = /--payload '(.*)' --singleton (\S+)/.exec(line) ?? [];
    const { exitCode, stdout } = await cli(
      'trigger',
      'sync-customer',
      '--payload',
      payload,
      '--singleton',
      key,
    );
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^run_/)]);
  }
  const skipped = await cli('trigger', 'sync-customer', '--singleton', 'late', '--delay', '1h');
  const again = await cli('trigger', 'sync-customer', '--singleton', 'late');
  expect(again).toMatchObject({ exitCode: 0, stdout: skipped.stdout });
  expect(again.stderr).toMatch(/The run already existed/);
  expect((await cli('trigger', 'sync-customer', '--on-conflict', 'drop')).exitCode).not.toBe(0);
});

test('runs of one key execute in sequence, and all further triggers resolve to one waiting run', async () => {
  const trigger = (customer: string) =>
    tasks.trigger('sync-customer', { customer }, { singleton: { key: 'busy' } });
  const first = await trigger('first');
  await expect
    .poll(async () => (await runs.retrieve(first.id)).status, { timeout: 10_000 })
    .toBe('EXECUTING');
  const later = await Promise.all([1, 2, 3, 4].map((n) => trigger(`later ${n}`)));
  const [second] = later;
  expect(new Set(later.map(({ id }) => id))).toEqual(new Set([second!.id]));
  expect((await cli('why', second!.id)).stdout).toContain(`It is waiting for the end of the run ${first.id}`);
  const [executed, queued] = await Promise.all([runs.poll(first.id), runs.poll(second!.id)]);
  expect([executed.status, queued.status]).toEqual(['COMPLETED', 'COMPLETED']);
  expect(queued.startedAt!.getTime()).toBeGreaterThanOrEqual(executed.finishedAt!.getTime());
});
