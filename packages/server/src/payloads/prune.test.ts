import type { Outcome } from '@millrace/contract/runner';
import { expect, test } from 'vitest';
import { testEngine, type TestEngine } from '../runs/testing/engine.ts';
import { storeLargeOutput } from './store-large-output.ts';
import { packetPruner, snapshotPrefix } from './prune.ts';
import { readPacketText } from './read.ts';
import { writePacket } from './write.ts';

async function* bytes(text: string) {
  yield Buffer.from(text);
}
const write = ({ engine, environment }: TestEngine, name: string) =>
  writePacket(engine, { env: environment.id, name, contentType: 'text/plain' }, bytes(name));
const namesOf = async ({ sql }: TestEngine) =>
  (await sql<{ name: string }[]>`select name from packets order by name`).map((row) => row.name);
interface Ended {
  readonly env: number;
  readonly run: string;
  readonly outcome: Outcome;
}
const dayMs = 24 * 3_600_000;

test('deletes packets that no run uses, a day after their last use, and retains the others', async () => {
  const fixture = await testEngine();
  await fixture.register('echo');
  for (const name of ['used', 'unused', 'fresh']) await write(fixture, name);
  await fixture.sql`
    insert into packets (env, content_type, created_at, used_at)
    values (${fixture.environment.id}, 'text/plain', now(), now())`;
  const run = await fixture.trigger('echo', { payloadType: 'application/store' }, 'used');
  const pruner = packetPruner(fixture.engine);
  await pruner.tick();
  expect(await fixture.sql`select from packets`).toHaveLength(4);
  fixture.engine.clock.shift(dayMs + 1_000);
  // A trigger that checks the packet restarts its day.
  const other = await fixture.trigger('echo', { payloadType: 'application/store' }, 'fresh');
  await fixture.sql`delete from runs where id = ${other.id}`;
  await pruner.tick();
  expect(await namesOf(fixture)).toEqual(['fresh', 'used']);
  expect(await fixture.sql`select distinct packet_id from packet_pieces`).toHaveLength(2);
  await fixture.sql`delete from runs where id = ${run.id}`;
  fixture.engine.clock.shift(dayMs + 1_000);
  await pruner.tick();
  expect(await namesOf(fixture)).toEqual([]);
});

test('retains the snapshot of a session as long as the session', async () => {
  const fixture = await testEngine();
  const env = fixture.environment.id;
  const at = new Date(fixture.engine.clock.now());
  await fixture.sql`
    insert into sessions (env, id, type, task, trigger_config, tags, created_at, updated_at)
    values (${env}, 'session_1', 'chat', 'echo', '{}', '{}', ${at}, ${at})`;
  await write(fixture, `${snapshotPrefix}session_1`);
  await write(fixture, `${snapshotPrefix}session_2`);
  fixture.engine.clock.shift(dayMs + 1_000);
  await packetPruner(fixture.engine).tick();
  expect(await namesOf(fixture)).toEqual([`${snapshotPrefix}session_1`]);
  await fixture.sql`delete from sessions`;
  await packetPruner(fixture.engine).tick();
  expect(await namesOf(fixture)).toEqual([]);
});

test('the last of several concurrent uploads with one name is stored, and none fails', async () => {
  const fixture = await testEngine();
  await Promise.all(Array.from({ length: 12 }, () => write(fixture, 'same')));
  expect(await namesOf(fixture)).toEqual(['same']);
});

test('stores only outputs of 128 KiB and more as packets', async () => {
  const fixture = await testEngine();
  const env = fixture.environment.id;
  const store = async (ended: Ended) => (await storeLargeOutput(fixture.engine, ended)).outcome;
  const end = (output: string) =>
    store({ env, run: 'run_1', outcome: { kind: 'completed', output, outputType: 'text/plain' } });
  const small = 'x'.repeat(128 * 1_024 - 1);
  expect(await end(small)).toMatchObject({ output: small, outputType: 'text/plain' });
  for (const large of [`${small}x`, 'é'.repeat(64 * 1_024)]) {
    const outcome = await end(large);
    expect(outcome).toMatchObject({ outputType: 'application/store' });
    const name = outcome.kind === 'completed' ? (outcome.output ?? '') : '';
    expect(name).toMatch(/^run_1\/output_/);
    expect(await readPacketText(fixture.sql, env, name)).toEqual({ text: large, type: 'text/plain' });
  }
  const failed = { kind: 'canceled' } as const;
  expect(await store({ env, run: 'run_1', outcome: failed })).toBe(failed);
});
