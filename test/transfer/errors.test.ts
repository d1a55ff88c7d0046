/** Error states, merges and rules are exported and imported. Runs of real runners fail on both servers. */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { ErrorGroup, ErrorGroupDetail } from '@millrace/contract';
import { startProject } from '../support/project.ts';
import type { TestServer } from '../support/server.ts';
import { exported, imported, run, type Line } from './command.ts';
import { startPair } from './pair.ts';

const ends: (() => Promise<void>)[] = [];
let source: TestServer;
let target: TestServer;
let file: string;

// An error with its own fingerprint is found by it. The others are found by a rule.
const failing = `
import { task } from '@millrace/sdk';
export const pay = task({
  id: 'pay', retry: { maxAttempts: 1 },
  run: async ({ message, fingerprint }) => { throw Object.assign(new Error(message), fingerprint && { fingerprint }); },
});`;

beforeAll(async () => {
  const pair = await startPair((end) => void ends.push(end));
  ({ source, target } = pair);
  for (const server of [source, target])
    await startProject(server, { 'tasks/pay.ts': failing }, [], (end) => ends.push(end));
  file = join(pair.folder, 'errors.ndjson');
}, 60_000);
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
});
beforeEach(() => rm(file, { force: true }));

type Listed = ErrorGroup & { readonly fingerprints: readonly string[] };

const groupsOf = async (server: TestServer): Promise<Listed[]> => {
  const { body } = await server.ask('/api/v1/errors?page[size]=100&fingerprints=true');
  return body.data as Listed[];
};
const countOf = async (server: TestServer): Promise<number> =>
  (await groupsOf(server)).reduce((sum, { count }) => sum + count, 0);

/** Triggers runs that fail with these payloads and waits until their errors are counted. */
async function failWith(
  server: TestServer,
  ...payloads: { message?: string; fingerprint?: string }[]
): Promise<void> {
  const before = await countOf(server);
  for (const payload of payloads)
    expect(
      await server.ask('/api/v1/tasks/pay/trigger', { method: 'POST', body: { payload } }),
    ).toMatchObject({ status: 200 });
  await expect.poll(() => countOf(server), { timeout: 30_000 }).toBe(before + payloads.length);
}
/** Lets errors with these fingerprints occur in sequence: a group lists its fingerprints in the order of their first occurrence. */
async function fail(server: TestServer, ...fingerprints: string[]): Promise<void> {
  for (const fingerprint of fingerprints)
    await failWith(server, { message: `of ${fingerprint}`, fingerprint });
}

/** The group of an error with this fingerprint. */
async function find(server: TestServer, fingerprint: string): Promise<ErrorGroupDetail> {
  const group = (await groupsOf(server)).find((each) => each.fingerprints.includes(fingerprint));
  const { body } = await server.ask(`/api/v1/errors/${group?.id}`);
  return body as ErrorGroupDetail;
}
async function act(server: TestServer, fingerprint: string, verb: string, body: object = {}): Promise<void> {
  const { id } = await find(server, fingerprint);
  const answer = await server.ask(`/api/v1/errors/${id}/${verb}`, { method: 'POST', body });
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200 });
}

const exportTo = async (only: string): Promise<void> => {
  const { exitCode, stderr } = await run(source, ['export', file, '--force', '--only', only]);
  expect(exitCode, stderr).toBe(0);
};
/** The action of an import, by the fingerprint in the messages of these tests. */
const actions = (steps: readonly Line[]): Record<string, unknown> =>
  Object.fromEntries(steps.map(({ name, action }) => [/ of (\S+)/.exec(String(name))?.[1], action]));
/** The state of a group, without properties that differ between servers. */
const stateOf = ({
  status,
  resolvedInVersion,
  ignoredReason,
  ignoredUntilOccurrenceRate,
  ignoredUntilTotalOccurrences,
}: ErrorGroupDetail) => ({
  status,
  resolvedInVersion,
  ignoredReason,
  ignoredUntilOccurrenceRate,
  ignoredUntilTotalOccurrences,
});

describe('states', () => {
  const week = 7 * 86_400_000;
  const known = ['fixed', 'later', 'noise', 'week', 'rate', 'total'];

  test('are exported with their limits, except for open groups', async () => {
    // Before it is resolved in the source, so that it is fixed in the target as well.
    await fail(target, 'fixed');
    await fail(source, ...known, 'open', 'reopened', 'over');
    await act(source, 'fixed', 'resolve');
    await act(source, 'later', 'resolve', { resolvedInVersion: '20991231.1' });
    await act(source, 'noise', 'ignore', { reason: 'of a bot' });
    await act(source, 'week', 'ignore', { duration: week });
    await act(source, 'rate', 'ignore', { occurrenceRate: 0.5 });
    await act(source, 'total', 'ignore', { totalOccurrences: 2 });
    await act(source, 'over', 'ignore', { duration: 1 });
    await act(source, 'reopened', 'resolve');
    await act(source, 'reopened', 'unresolve');
    await expect.poll(async () => (await find(source, 'over')).status).toBe('unresolved');
    const records = await exported(source, 'error');
    expect(new Set(records.map(({ fingerprint }) => fingerprint))).toEqual(new Set(known));
    expect(records).toHaveLength(known.length);
    expect(records.find(({ fingerprint }) => fingerprint === 'noise')).toEqual({
      kind: 'error',
      task: 'pay',
      fingerprint: 'noise',
      errorType: 'Error',
      errorMessage: (await find(source, 'noise')).errorMessage,
      status: 'ignored',
      ignoredReason: 'of a bot',
    });
    await exportTo('error');
  });

  test('are skipped until the group has occurred', async () => {
    await exportTo('error');
    const { exitCode, steps } = await imported(target, file);
    expect(exitCode).toBe(0);
    expect(actions(steps)).toEqual({
      ...Object.fromEntries(known.map((name) => [name, 'left-out'])),
      fixed: 'create',
    });
    expect(steps[0]).toMatchObject({ note: expect.any(String) as string });
    expect(await find(target, 'fixed')).toMatchObject({ status: 'resolved', resolvedInVersion: null });
  });

  test('are applied once, and are the same on both sides afterwards', async () => {
    await exportTo('error');
    await fail(target, ...known.filter((name) => name !== 'fixed'), 'open');
    const { exitCode, steps } = await imported(target, file);
    expect(exitCode).toBe(0);
    expect(actions(steps)).toEqual({
      ...Object.fromEntries(known.map((name) => [name, 'create'])),
      fixed: 'same',
    });
    for (const name of [...known, 'open'])
      expect(stateOf(await find(target, name)), name).toEqual(stateOf(await find(source, name)));
    const [there, here] = [await find(source, 'week'), await find(target, 'week')];
    expect(Math.abs(Date.parse(there.ignoredUntil ?? '') - Date.parse(here.ignoredUntil ?? ''))).toBeLessThan(
      60_000,
    );
    expect(actions((await imported(target, file)).steps)).toEqual(
      Object.fromEntries(known.map((name) => [name, 'same'])),
    );
    // They are in effect: the count begins with the import.
    await fail(target, 'total', 'noise');
    expect(await find(target, 'total')).toMatchObject({ status: 'ignored' });
    await fail(target, 'total');
    expect(await find(target, 'total')).toMatchObject({ status: 'unresolved' });
    expect(await find(target, 'noise')).toMatchObject({ status: 'ignored' });
  });

  test('that differ are kept, unless --override is given', async () => {
    await exportTo('error');
    await act(target, 'noise', 'ignore', { reason: 'of a customer' });
    await act(target, 'later', 'resolve', {});
    await act(target, 'week', 'ignore', { duration: 2 * week });
    await act(target, 'rate', 'resolve', {});
    await act(target, 'fixed', 'unresolve');
    await act(target, 'total', 'ignore', { totalOccurrences: 2 });
    const result = await imported(target, file);
    expect([result.exitCode, actions(result.steps)]).toEqual([
      0,
      { noise: 'keep', later: 'keep', week: 'keep', rate: 'keep', fixed: 'create', total: 'same' },
    ]);
    expect(await find(target, 'noise')).toMatchObject({ ignoredReason: 'of a customer' });
    const { steps } = await imported(target, file, { args: ['--override'] });
    expect(actions(steps)).toEqual({
      noise: 'change',
      later: 'change',
      week: 'change',
      rate: 'change',
      fixed: 'same',
      total: 'same',
    });
    for (const name of known)
      expect(stateOf(await find(target, name)), name).toEqual(stateOf(await find(source, name)));
  });

  test('of a fixed error are not applied if the error has recurred in the target', async () => {
    await exportTo('error');
    await act(target, 'fixed', 'unresolve');
    await fail(target, 'fixed');
    const { steps } = await imported(target, file);
    expect(steps.filter(({ action }) => action === 'keep')).toEqual([
      expect.objectContaining({
        note: 'has occurred here since it was resolved: --override resolves it anyway',
      }),
    ]);
    expect(await find(target, 'fixed')).toMatchObject({ status: 'unresolved' });
    await imported(target, file, { args: ['--override'] });
    expect(await find(target, 'fixed')).toMatchObject({ status: 'resolved' });
  });

  test('that have expired are skipped', async () => {
    await exportTo('error');
    const lines = (await readFile(file, 'utf8')).split('\n').map((line) => {
      const record = line === '' ? {} : (JSON.parse(line) as { fingerprint?: string });
      if (record.fingerprint !== 'week') return line;
      return JSON.stringify({ ...record, ignoredUntil: '2020-01-01T00:00:00.000Z' });
    });
    await writeFile(file, lines.join('\n'));
    const { steps } = await imported(target, file, { args: ['--override'] });
    expect(steps.find(({ action }) => action === 'left-out')).toMatchObject({
      note: 'the time to ignore it has passed',
    });
  });
});

describe('merges', () => {
  const fingerprintsOf = async (server: TestServer, fingerprint: string) => {
    const { id } = await find(server, fingerprint);
    const { body } = await server.ask(`/api/v1/errors/${id}/fingerprints`);
    return (body.data as { fingerprint: string }[]).map((entry) => entry.fingerprint);
  };

  test('contain the fingerprints that have occurred, grow with new occurrences, and have their state', async () => {
    await fail(source, 'a', 'b', 'c', 'd');
    const { id: other } = await find(source, 'b');
    const { id: third } = await find(source, 'c');
    const { id: split } = await find(source, 'd');
    await act(source, 'a', 'merge', { errors: [other, third, split] });
    await act(source, 'a', 'split', { fingerprints: ['d'] });
    await act(source, 'a', 'ignore', { reason: 'one cause' });
    expect(await exported(source, 'error-merge')).toEqual([
      {
        kind: 'error-merge',
        task: 'pay',
        fingerprints: ['a', 'b', 'c'],
        errorType: 'Error',
        errorMessage: (await find(source, 'a')).errorMessage,
      },
    ]);
    await exportTo('error-merge,error');
    const ofMerge = async () => {
      const { exitCode, steps } = await imported(target, file);
      expect(exitCode).toBe(0);
      const of = (kind: string) =>
        steps.find((step) => step['kind'] === kind && / of a\b/.test(String(step['name'])));
      return [of('error-merge')?.['action'], of('error-merge')?.['note'], of('error')?.['action']];
    };
    expect(await ofMerge()).toEqual(['left-out', '3 of them have not occurred here yet', 'left-out']);
    await fail(target, 'c');
    expect(await ofMerge()).toEqual(['left-out', '2 of them have not occurred here yet', 'left-out']);
    await fail(target, 'a', 'd');
    expect(await ofMerge()).toEqual(['create', '1 of them have not occurred here yet', 'create']);
    expect(await fingerprintsOf(target, 'c')).toEqual(['a', 'c']);
    await fail(target, 'b');
    expect(await ofMerge()).toEqual(['create', undefined, 'same']);
    expect((await fingerprintsOf(target, 'b')).toSorted()).toEqual(['a', 'b', 'c']);
    expect(await ofMerge()).toEqual(['same', undefined, 'same']);
    expect(await fingerprintsOf(target, 'd')).toEqual(['d']);
    expect(await find(target, 'b')).toMatchObject({
      status: 'ignored',
      ignoredReason: 'one cause',
      count: 3,
    });
  });
});

describe('rules', () => {
  const create = async (server: TestServer, message: string, groupKey: string): Promise<void> => {
    const path = `/api/v1/projects/${server.projectRef}/error-rules`;
    expect(await server.ask(path, { method: 'POST', body: { message, groupKey } })).toMatchObject({
      status: 200,
    });
  };
  const keysOf = async (server: TestServer): Promise<string[]> => {
    const { body } = await server.ask(`/api/v1/projects/${server.projectRef}/error-rules`);
    return (body.data as { groupKey: string }[]).map(({ groupKey }) => groupKey);
  };

  /** A rule may take effect a little later: runs fail until one is in its group. */
  const failInto = async (server: TestServer, groupKey: string, message: string): Promise<void> => {
    const fingerprints = async () => {
      await failWith(server, { message });
      return (await groupsOf(server)).map(({ fingerprint }) => fingerprint);
    };
    await expect.poll(fingerprints, { timeout: 30_000 }).toContain(groupKey);
  };

  test('are created once, in the order of the source, and group later failures', async () => {
    for (const [message, groupKey] of [
      ['connect * refused', 'refused'],
      ['connect *', 'network'],
      ['* bank *', 'bank'],
      ['* card *', 'card'],
    ] as const)
      await create(source, message, groupKey);
    // Without this, one of them would come first in the target, and match errors of another.
    await create(target, 'connect *', 'network');
    await create(target, '* of the target *', 'other');
    await exportTo('error-rule');
    const foreign = await imported(target, file, { key: target.keys.stg });
    expect(foreign.steps.map(({ action }) => action)).toEqual(['left-out', 'same', 'left-out', 'left-out']);
    const { exitCode, steps } = await imported(target, file);
    expect(exitCode).toBe(0);
    expect(steps.map(({ action }) => action)).toEqual(['create', 'same', 'create', 'create']);
    expect(await keysOf(target)).toEqual(['refused', 'network', 'bank', 'card', 'other']);
    expect((await imported(target, file)).steps.map(({ action }) => action)).toEqual(
      Array.from({ length: 4 }, () => 'same'),
    );
    await failInto(target, 'refused', 'connect 10.0.0.1 refused');
    await failInto(target, 'bank', 'the bank said no');
  });

  test('create groups whose states are imported', async () => {
    await failInto(source, 'card', 'the card was declined');
    await act(source, 'card', 'ignore', { reason: 'of the bank' });
    await failInto(target, 'card', 'a card that is unknown');
    await exportTo('error-rule,error');
    await imported(target, file);
    expect(await find(target, 'card')).toMatchObject({ status: 'ignored', ignoredReason: 'of the bank' });
  });
});
