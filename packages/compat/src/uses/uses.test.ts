import { expect, test } from 'vitest';
import { usesOf } from './uses.ts';

const imports = `import { task, schedules, usage as used, query, type TaskOptions } from '@trigger.dev/sdk';\n`;

const refusedIn = (text: string, version = '4.8.3'): string[] =>
  usesOf('a.ts', text, version)
    .findings.filter(({ state }) => state === 'not')
    .map(({ line, column, name }) => `${line}:${column} ${name}`);

test('exports are found where they are imported or exported again', () => {
  expect(refusedIn(imports)).toEqual(['1:42 query']);
  expect(refusedIn(`export { query } from '@trigger.dev/sdk/v3';`)).toEqual(['1:10 query']);
  expect(refusedIn(`import * as sdk from "@trigger.dev/sdk";\nsdk.query.execute('');`)).toEqual([
    '2:1 query',
  ]);
  expect(refusedIn(`const { query: q } = await import('@trigger.dev/sdk');`)).toEqual(['1:9 query']);
  expect(refusedIn(`const sdk = require('@trigger.dev/sdk');\nsdk.query;`)).toEqual(['2:1 query']);
  expect(refusedIn(`import { awsCredentialProvider } from '@trigger.dev/sdk/oidc/aws';`)).toEqual([
    '1:1 @trigger.dev/sdk/oidc/aws',
  ]);
});

test('members are found where they are used, under the local name', () => {
  const text = `import { auth as a, prompts, webhooks } from '@trigger.dev/sdk';
import { chat } from '@trigger.dev/sdk/ai';
await a.getOIDCToken({});
prompts.define({}); prompts
  .promote('greeting', 2);
webhooks.waiter.create({}); webhooks.square();
chat.channels.custom({});`;
  expect(refusedIn(text)).toEqual([
    '3:7 auth.getOIDCToken',
    '4:21 prompts.promote',
    '6:1 webhooks.waiter',
    '6:29 webhooks.square',
    '7:1 chat.channels',
  ]);
});

test('comments, texts and types are not uses', () => {
  const text = `// import { query } from '@trigger.dev/sdk';
/* import { query } from '@trigger.dev/sdk' */
import type { query } from '@trigger.dev/sdk';
import { prompts, type skills } from '@trigger.dev/sdk';
const note = "it's prompts.promote()", other = \`\${{ a: "}" }.a} prompts.promote()\`, pattern = /'prompts.promote(/;
const half = 4 / 2; // don't
`;
  expect(refusedIn(text)).toEqual([]);
});

const declarations = `${imports}
export const a = task<'a', { b: () => void }>({
  id: 'a', // ids, such as { concurrency: 1 }
  'retry': { maxAttempts: 3, outOfMemory: { machine: 'micro' } },
  concurrency: [{ total: 5 }, 'named'],
  async run(payload, { ctx }) {},
  later: 1,
});
export const b = schedules.task({ id: 'b', cron: { pattern: '* * * * *', sometime: 1 }, run: async () => {} });
`;

test('options are found in declarations, with their members', () => {
  expect([...usesOf('a.ts', declarations, '4.8.3').options]).toEqual([
    'task id',
    'task retry',
    'task retry.maxAttempts',
    'task retry.outOfMemory',
    'task retry.outOfMemory.machine',
    'task concurrency',
    'task concurrency.total',
    'task run',
    'task later',
    'task cron',
    'task cron.pattern',
    'task cron.sometime',
  ]);
});

test('options and exports of a later version are rejected by name', () => {
  expect(refusedIn(declarations)).toEqual(['1:42 query']);
  expect(refusedIn(declarations, '4.9.0')).toEqual([
    '1:42 query',
    '8:3 option later of task',
    '10:74 option cron.sometime of task',
  ]);
  const text = `import { task, foresee, TaskForecast } from '@trigger.dev/sdk';`;
  expect(usesOf('a.ts', text, '4.9.0').findings).toEqual([
    {
      file: 'a.ts',
      line: 1,
      column: 16,
      name: 'foresee',
      state: 'not',
      note: 'Millrace supports 4.0 to 4.8 of @trigger.dev/sdk, and 4.9.0 is installed: remove it, or install 4.8',
    },
  ]);
});

test('an unsupported option of a trigger is found, and a payload with the same name is not', () => {
  const text = `
await a.trigger({ concurrency: 1 }, { ttl: '1h', concurrency: 'x' });
await tasks.trigger('a', { concurrency: 1 }, { concurrency: ['x'] });
await a.trigger([{ options: { concurrency: 'payload' } }], { concurrency: 'x' });
await tasks.batchTrigger('a', [{ payload: 1, options: { concurrency: 'x' } }]);
await b?.batchTrigger([{ payload: { concurrency: 1 }, options: { concurrency: 'x' } }], { idempotencyKey: 'k' });
await batch.triggerAndWait<typeof a>([{ id: 'a', payload: 1, options: { concurrency: 'x' } }]);`;
  expect(refusedIn(text)).toEqual([
    '2:50 option concurrency of trigger',
    '3:48 option concurrency of trigger',
    '4:62 option concurrency of trigger',
    '5:57 option concurrency of trigger',
    '6:66 option concurrency of trigger',
    '7:73 option concurrency of trigger',
  ]);
  expect(usesOf('a.ts', text, '4.8.3').options).toEqual(
    new Set(['trigger ttl', 'trigger concurrency', 'batch idempotencyKey']),
  );
});
