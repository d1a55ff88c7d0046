import { expect, onTestFinished, test } from 'vitest';
import { startChannels } from '../channels/channels.ts';
import { sessionChannel } from '../channels/key.ts';
import { DatabaseLost } from '../db/errors.ts';
import { testEngine } from '../runs/testing/engine.ts';
import { createSession } from './create.ts';
import { createEnsureServed, type EnsureServed } from './serve.ts';
import { createServeUnread } from './unread.ts';

test('a run is started for unread messages even if the database was unavailable when the previous run ended', async () => {
  const t = await testEngine();
  const { engine, sql, environment, dispatch, database } = t;
  const channels = startChannels({ database, sql, clock: engine.clock, wakes: engine.wakes });
  onTestFinished(channels.stop);
  const ensureServed = createEnsureServed({ engine, dispatch });
  const version = await t.register('chat');
  await t.addRunner('r1');
  const { id } = await createSession(
    { engine, dispatch, channels, ensureServed, mint: async () => undefined },
    { kind: 'secretKey', environment } as Parameters<typeof createSession>[1],
    { type: 'chat', externalId: 'a', taskIdentifier: 'chat', triggerConfig: { basePayload: {} } },
    () => {},
  );
  const [attempt] = await t.claim('r1', [version.id], 1);
  await channels.append(sessionChannel(environment.id, 'a', 'in'), [{ body: '{"data":"x"}' }]);
  await t.end(attempt!);
  let isAway = true;
  const whenBack: EnsureServed = async (...args) => {
    if (!isAway) return ensureServed(...args);
    isAway = false;
    throw new DatabaseLost(new Error('It is away.'));
  };
  const serve = createServeUnread({ sql, log: engine.log, ensureServed: whenBack });
  await serve(environment.id, attempt!.run, { a: -1 });
  const [row] = await sql<{ run_id: string }[]>`select run_id from sessions where id = ${id}`;
  expect(row?.run_id).not.toBe(attempt!.run);
});
