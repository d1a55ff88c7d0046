import { concurrencyLimit, queue, schedules, schemaTask, task } from '@trigger.dev/sdk';
import { manifestOf } from '@millrace/sdk/executor';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { registerApis } from '../../packages/compat/src/runtime/apis.ts';
import { Catalog } from '../../packages/compat/src/runtime/catalog.ts';
import { definedTask } from '../../packages/compat/src/runtime/define.ts';
import { Hooks, hooksApi } from '../../packages/compat/src/runtime/hooks.ts';

type Settings = Parameters<typeof definedTask>[3];

/** The manifest of the task `a`, declared with the published SDK in a project with these settings. */
function manifestOfA(declare: () => unknown, settings: Partial<Settings> = {}): unknown {
  const [catalog, hooks] = [new Catalog(), new Hooks()];
  registerApis({ 'resource-catalog': catalog.api, 'lifecycle-hooks': hooksApi(hooks) });
  declare();
  const declared = catalog.task('a');
  if (!declared) throw new Error('Not declared.');
  const defined = definedTask(declared, catalog, hooks, { version: '4.8.3', ...settings });
  return manifestOf(defined as unknown as Parameters<typeof manifestOf>[0], 'trigger/a.ts');
}

const run = async (): Promise<void> => {};

test('the options of a task are those of its manifest', () => {
  const all = () =>
    task({
      id: 'a',
      description: 'All of them',
      retry: {
        maxAttempts: 7,
        factor: 1.5,
        minTimeoutInMs: 30,
        maxTimeoutInMs: 40,
        randomize: false,
        outOfMemory: { machine: 'large-2x' },
      },
      queue: { name: 'narrow', concurrencyLimit: 3 },
      machine: { preset: 'medium-2x' },
      maxDuration: 77,
      ttl: '40m',
      jsonSchema: { type: 'object', properties: { n: { type: 'number' } } },
      run,
    });
  expect(manifestOfA(all)).toMatchObject({
    id: 'a',
    description: 'All of them',
    retry: {
      maxAttempts: 7,
      factor: 1.5,
      minTimeoutInMs: 30,
      maxTimeoutInMs: 40,
      randomize: false,
      outOfMemory: { machine: 'large-2x' },
    },
    queue: { name: 'narrow', concurrencyLimit: 3 },
    machine: 'medium-2x',
    maxDuration: 77,
    ttl: 2_400,
    payloadSchema: { type: 'object', properties: { n: { type: 'number' } } },
  });
});

test('a machine may be declared by its CPUs and memory', () => {
  const sized = () => task({ id: 'a', machine: { cpu: 1, memory: 2 }, run });
  expect(manifestOfA(sized)).toMatchObject({ machine: 'medium-1x' });
});

test('the settings of a project are the defaults of its tasks', () => {
  const settings = { retry: { maxAttempts: 5 }, machine: 'small-2x', maxDuration: 99, ttl: '20m' } as const;
  expect(manifestOfA(() => task({ id: 'a', run }), settings)).toMatchObject({
    retry: { maxAttempts: 5 },
    machine: 'small-2x',
    maxDuration: 99,
    ttl: 1_200,
  });
});

test('a declared schedule has its time zone, environments and window', () => {
  const scheduled = () =>
    schedules.task({
      id: 'a',
      cron: {
        pattern: '0 3 * * *',
        timezone: 'Europe/Berlin',
        window: '30%',
        environments: ['PRODUCTION', 'STAGING'],
      },
      run,
    });
  expect(manifestOfA(scheduled)).toMatchObject({
    scheduled: true,
    schedule: {
      cron: '0 3 * * *',
      timezone: 'Europe/Berlin',
      window: '30%',
      environments: ['PRODUCTION', 'STAGING'],
    },
  });
});

test('limits and queues may be passed as values', () => {
  const values = () =>
    task({
      id: 'a',
      queue: queue({ name: 'shared', concurrencyLimit: 9 }),
      concurrency: [{ name: 'provider', total: 4, perKey: 2 }],
      run,
    });
  const declared = () => {
    concurrencyLimit({ name: 'provider', total: 4, perKey: 2 });
    values();
  };
  expect(manifestOfA(declared)).toMatchObject({
    queue: { name: 'shared', concurrencyLimit: 2, concurrency: { name: 'provider', limit: 4 } },
  });
});

test('a schema validates payloads and describes them', () => {
  const checked = () => schemaTask({ id: 'a', schema: z.object({ n: z.number() }), run });
  expect(manifestOfA(checked)).toMatchObject({ payloadSchema: { properties: { n: { type: 'number' } } } });
});

test('a property that a later version registers for its tasks is rejected by name', () => {
  const catalog = new Catalog();
  catalog.api.registerTaskMetadata({ id: 'a', fns: { run }, forecast: 1 } as never);
  expect(catalog.refused).toMatchObject([
    { sentence: expect.stringContaining('registers "forecast"') as string },
  ]);
});
