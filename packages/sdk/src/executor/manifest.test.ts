import { taskManifest } from '@millrace/contract/runner';
import { describe, expect, test } from 'vitest';
import { task, webhook } from '../index.ts';
import { taskBrand } from '../task/types.ts';
import { findTasks } from './find-tasks.ts';
import { manifestOf } from './manifest.ts';

const run = () => {};
// Input from an untyped caller.
const declared = (options: object) => task({ id: 't', run, ...options } as Parameters<typeof task>[0]);

describe('findTasks', () => {
  test('finds every exported task once, among other exports', () => {
    const a = declared({ id: 'a' });
    const b = declared({ id: 'b' });
    const found = findTasks({ a, again: a, default: b, config: { id: 'c', run }, n: 1, nothing: null, run });
    expect(found).toEqual([
      { task: a, exportName: 'a' },
      { task: b, exportName: 'default' },
    ]);
  });

  test('finds the tasks that a CommonJS module exports', () => {
    const a = declared({ id: 'a' });
    expect(findTasks({ default: { a, n: 1 } })).toEqual([{ task: a, exportName: 'a' }]);
    expect(findTasks({ default: null })).toEqual([]);
  });

  test('finds the task of another copy of this package', () => {
    const foreign = { id: 'f', [Symbol.for('@millrace/sdk/task')]: { id: 'f', run } };
    expect(findTasks({ foreign })).toHaveLength(1);
    expect(Symbol.for('@millrace/sdk/task')).toBe(taskBrand);
  });
});

describe('manifestOf', () => {
  test('contains everything that the server needs, in the form of the contract', () => {
    const manifest = manifestOf(
      declared({
        id: 'charge',
        description: 'Takes money',
        queue: { concurrencyLimit: 3 },
        retry: { maxAttempts: 5, randomize: false },
        maxDuration: 60,
        machine: 'micro',
        ttl: '1h30m',
        isolated: true,
        fingerprint: 'money',
      }),
      'tasks/charge.ts',
      'charge',
    );
    expect(manifest).toEqual({
      id: 'charge',
      filePath: 'tasks/charge.ts',
      exportName: 'charge',
      description: 'Takes money',
      queue: { name: 'task/charge', concurrencyLimit: 3 },
      retry: { maxAttempts: 5, randomize: false },
      maxDuration: 60,
      machine: 'micro',
      ttl: 5_400,
      isolated: true,
      fingerprint: 'money',
    });
    expect(taskManifest.parse(manifest)).toEqual(manifest);
  });

  test.each([
    [{ rateLimit: { limit: 5, period: '1m' } }, { limit: 5, period: 60 }],
    [{ queue: { rateLimit: { limit: 5, period: 2, burst: 1 } } }, { limit: 5, period: 2, burst: 1 }],
  ])('has the rate limit of %j', (options, rateLimit) => {
    const manifest = manifestOf(declared(options), 'tasks/t.ts', 'one');
    expect(taskManifest.parse(manifest).queue).toMatchObject({
      name: expect.stringMatching(/^task\//) as string,
      rateLimit,
    });
  });

  test.each([
    [
      { maxSize: 100, maxWait: '5s' },
      { maxSize: 100, maxWaitMs: 5_000 },
    ],
    [
      { maxSize: 1, maxWait: 0.0015 },
      { maxSize: 1, maxWaitMs: 2 },
    ],
  ])('has the batch %j', (batch, sent) => {
    const manifest = manifestOf(declared({ batch }), 'tasks/t.ts', 'one');
    expect(taskManifest.parse(manifest).batch).toEqual(sent);
  });

  test.each([
    [{ batch: 5 }, "batch must be an object such as { maxSize: 100, maxWait: '5s' }; got 5"],
    [{ batch: { maxWait: 1 } }, 'batch.maxSize must be a whole number from 1 to 1000; got undefined'],
    [
      { batch: { maxSize: 1_001, maxWait: 1 } },
      'batch.maxSize must be a whole number from 1 to 1000; got 1001',
    ],
    [
      { batch: { maxSize: 1, maxWait: '2d' } },
      'batch.maxWait must be seconds, or a duration such as 5s or 10m',
    ],
    [{ batch: { maxSize: 1, maxWait: 0 } }, 'from a millisecond to a day; got 0'],
    [
      { batch: { maxSize: 1, maxWait: 1 }, singleton: { onConflict: 'skip' } },
      'batch and singleton cannot be combined',
    ],
    [{ batch: { maxSize: 1, maxWait: 1 }, scheduled: true }, 'batch is not allowed for scheduled tasks'],
    [{ id: '' }, 'id must be a string of 1 to 128 characters; got ""'],
    [{ id: 5 }, 'id must be a string'],
    [{ id: 'x'.repeat(129) }, 'id must be a string'],
    [{ run: undefined }, 'run must be a function; got undefined'],
    [{ retry: { maxAttempts: 0 } }, 'retry.maxAttempts must be a whole number from 1 to 1000; got 0'],
    [{ retry: { factor: 0.5 } }, 'retry.factor must be a number from 1 to 100; got 0.5'],
    [{ retry: { minTimeoutInMs: -1 } }, 'retry.minTimeoutInMs must be a whole number of at least 0; got -1'],
    [{ retry: 3 }, 'retry must be an object; got 3'],
    [{ retry: { randomize: 'no' } }, 'retry.randomize must be true or false; got "no"'],
    [{ queue: 'q' }, 'queue must be an object; got "q"'],
    [{ queue: { name: '' } }, 'queue.name must be a string'],
    [
      { queue: { concurrencyLimit: 1.5 } },
      'queue.concurrencyLimit must be a whole number of at least 0; got 1.5',
    ],
    [
      { rateLimit: { limit: 0, period: '1m' } },
      'rateLimit.limit must be a whole number from 1 to 1000000; got 0',
    ],
    [{ rateLimit: { limit: -5, period: '1m' } }, 'rateLimit.limit must be a whole number'],
    [{ rateLimit: { limit: 1e9, period: '1m' } }, 'rateLimit.limit must be a whole number'],
    [{ rateLimit: { limit: '5', period: '1m' } }, 'rateLimit.limit must be a whole number'],
    [{ rateLimit: { limit: 5 } }, 'rateLimit.period must be whole seconds, or a duration such as 1m or 24h'],
    [{ rateLimit: { limit: 5, period: '500ms' } }, 'from 1 second to 31 days; got "500ms"'],
    [{ rateLimit: { limit: 5, period: 0.5 } }, 'from 1 second to 31 days; got 0.5'],
    [{ rateLimit: { limit: 5, period: '32d' } }, 'from 1 second to 31 days; got "32d"'],
    [
      { rateLimit: { limit: 5, period: 1, burst: 6 } },
      'rateLimit.burst must be a whole number from 1 to limit, which is 5; got 6',
    ],
    [
      { rateLimit: { limit: 5, period: 1, key: 'customer' } },
      'rateLimit.key must be "concurrencyKey", or omitted for one limit of the whole queue; got "customer"',
    ],
    [{ rateLimit: 5 }, "rateLimit must be an object such as { limit: 100, period: '1m' }; got 5"],
    [
      { queue: { rateLimit: { limit: 0, period: 1 } } },
      'queue.rateLimit.limit must be a whole number from 1 to 1000000; got 0',
    ],
    [
      { queue: { name: 'mail' }, rateLimit: { limit: 1, period: 1 } },
      'rateLimit must be declared in its queue, which other tasks may share: queue.rateLimit; got "mail"',
    ],
    [
      { queue: { rateLimit: { limit: 1, period: 1 } }, rateLimit: { limit: 1, period: 1 } },
      'rateLimit must be declared once, here or as queue.rateLimit',
    ],
    [{ maxDuration: 4 }, 'maxDuration must be a whole number from 5 to 2147483647; got 4'],
    [{ machine: 'huge' }, 'machine must be one of micro, '],
    [{ ttl: 'soon' }, 'ttl must be seconds, or a duration such as 1h30m; got "soon"'],
    [{ ttl: Number.NaN }, 'ttl must be a whole number'],
    [{ retention: 'long' }, 'retention must be seconds, or a duration such as 7d; got "long"'],
    [{ retention: '30m' }, 'retention must be a whole number from 3600 to 2147483647; got 1800'],
    [{ retention: null }, 'retention must be a whole number'],
    [{ retention: { failed: 1 } }, 'retention.failed must be a whole number from 3600 to 2147483647; got 1'],
    [{ retention: { FAILED: '7d' } }, 'retention.FAILED is not one of completed, failed, canceled; got "7d"'],
    [{ isolated: 1 }, 'isolated must be true or false; got 1'],
    [
      { requires: ['a b'] },
      'requires must be an array of up to 32 labels without spaces and commas; got a b',
    ],
    [
      { requires: 'gpu' },
      'requires must be an array of up to 32 labels without spaces and commas; got "gpu"',
    ],
    [{ description: 1 }, 'description must be a string'],
    [{ owner: '' }, 'owner must be 1 to 128 characters without spaces, commas and control characters'],
    [{ owner: '@a b' }, 'owner must be'],
    [{ owner: '@a\u202eb' }, 'owner must be'],
    [{ owner: 'x'.repeat(10_000) }, 'owner must be'],
    [{ owner: null }, 'owner must be'],
    [{ fingerprint: '' }, 'fingerprint must be a string'],
    [{ schema: { parse() {} } }, 'schema must be a Standard Schema'],
  ])('rejects %j', (options, message) => {
    expect(() => manifestOf(declared(options), 'tasks/t.ts', 'one')).toThrow(message);
    expect(() => manifestOf(declared(options), 'tasks/t.ts', 'one')).toThrow(
      /^tasks\/t\.ts, export one: task /,
    );
  });
});

describe('the manifest of a webhook', () => {
  const hook = (verify: unknown, options: object = {}) =>
    manifestOf(
      webhook({ id: 'hook', verify, onEvent: run, ...options } as Parameters<typeof webhook>[0]),
      'tasks/hook.ts',
      'hook',
    );

  test.each([
    [
      { scheme: 'stripe', secret: 'STRIPE_SECRET' },
      { scheme: 'stripe', secrets: ['STRIPE_SECRET'] },
    ],
    [
      { scheme: 'github', secret: ['NEW', 'OLD'] },
      { scheme: 'github', secrets: ['NEW', 'OLD'] },
    ],
    [
      { scheme: 'hmac', secret: 'S', header: 'X-Signature' },
      { scheme: 'hmac', secrets: ['S'], header: 'X-Signature', algorithm: 'sha256', encoding: 'hex' },
    ],
    [
      { scheme: 'none', idHeader: 'X-Id' },
      { scheme: 'none', idHeader: 'X-Id' },
    ],
  ])('has the verification %j', (verify, sent) => {
    const manifest = hook(verify, { queue: { concurrencyLimit: 1 }, retry: { maxAttempts: 5 } });
    expect(taskManifest.parse(manifest)).toMatchObject({
      id: 'hook',
      webhook: { verify: sent },
      queue: { name: 'task/hook', concurrencyLimit: 1 },
      retry: { maxAttempts: 5 },
    });
  });

  test.each([
    [undefined, 'verify must be an object such as'],
    [{ scheme: 'paypal', secret: 'S' }, 'verify.scheme must be one of standard, svix, stripe'],
    [{ scheme: 'stripe' }, 'verify.secret must be the name of an environment variable'],
    [{ scheme: 'stripe', secret: [] }, 'verify.secret must be the name'],
    [{ scheme: 'stripe', secret: ['A', 'B', 'C', 'D', 'E', 'F'] }, 'a list of up to 5 names'],
    [{ scheme: 'hmac', secret: 'S' }, 'verify.header must be the name of a header; got undefined'],
    [
      { scheme: 'hmac', secret: 'S', header: 'X', algorithm: 'md5' },
      'verify.algorithm must be one of sha256',
    ],
    [{ scheme: 'hmac', secret: 'S', header: 'X', encoding: 'utf8' }, 'verify.encoding must be hex or base64'],
    [{ scheme: 'none', idHeader: 'a b' }, 'verify.idHeader must be the name of a header; got "a b"'],
  ])('is rejected for the verification %j', (verify, message) => {
    expect(() => hook(verify)).toThrow(message);
    expect(() => hook(verify)).toThrow('tasks/hook.ts, export hook: task "hook": ');
  });

  test('is rejected without a handler, and never shows a secret that is passed instead of its name', () => {
    expect(() => hook({ scheme: 'none' }, { onEvent: undefined })).toThrow('onEvent must be a function');
    const refused = () => hook({ scheme: 'stripe', secret: 'whsec_abc-def' });
    expect(refused).toThrow('verify.secret must be the name');
    expect(refused).not.toThrow('whsec_abc-def');
  });
});
