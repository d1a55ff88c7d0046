/** The programs of docs/coming-from do the same before and after the move: the same effects, in the same order, with the same result. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { emptyDatabase } from '../support/database.ts';
import { addressOverTcp } from '../support/pgbouncer.ts';
import { sharedServer } from '../support/shared-server.ts';
import { typeErrors } from '../site/code-blocks.ts';
import { readPage } from './program.ts';
import { runAfter, runBefore } from './run.ts';

const modules = join(import.meta.dirname, 'peers/node_modules');

beforeAll(async () => {
  const install = join(import.meta.dirname, '../support/install-folder.ts');
  await promisify(execFile)(process.execPath, [install, 'test/coming-from/peers']);
}, 600_000);

/** A database for another system. */
async function database(): Promise<string> {
  const { connection, drop } = await emptyDatabase();
  onTestFinished(drop);
  return addressOverTcp(connection);
}

test.each(['pg-boss', 'agenda', 'bullmq'])(
  '%s: a mail that is refused once is sent by the second attempt',
  async (name) => {
    const { before, after } = await readPage(name);
    const effects = ['refused ada@mail.example', 'sent ada@mail.example'];
    expect((await runBefore(before, modules, await database(), effects.at(-1))).effects).toEqual(effects);
    const { effects: ours, printed } = await runAfter(await sharedServer(), after);
    expect({ ours, printed }).toEqual({ ours: effects, printed: ['mail-ada@mail.example'] });
  },
);

const ordered = ['declined A-17', 'charged A-17', 'shipped A-17'];

test('dbos: an order is charged, approved and shipped', async () => {
  const { before } = await readPage('dbos');
  const { effects, printed } = await runBefore(before, modules, await database());
  expect({ effects, printed }).toEqual({
    effects: ordered,
    printed: expect.arrayContaining(['parcel-A-17']) as string[],
  });
});

test.each(['dbos', 'hatchet', 'vercel-workflow'])(
  'from %s: the same order is charged, approved and shipped',
  async (name) => {
    const { after } = await readPage(name);
    const { effects, printed } = await runAfter(await sharedServer(), after);
    expect({ effects, printed }).toEqual({ effects: ordered, printed: ['parcel-A-17'] });
  },
);

test('the programs before the move compile with the packages of their systems', async () => {
  const pages = await Promise.all(['pg-boss', 'agenda', 'bullmq', 'dbos', 'hatchet'].map(readPage));
  expect(
    await typeErrors(
      pages.flatMap(({ peer }) => peer),
      modules,
    ),
  ).toEqual([]);
}, 120_000);
