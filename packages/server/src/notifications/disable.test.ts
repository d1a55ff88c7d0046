import { expect, test } from 'vitest';
import { lockWaiters } from '../../../../test/support/locks.ts';
import { masterKeyOf } from '../auth/seal.ts';
import { testEngine, type TestEngine } from '../runs/testing/engine.ts';
import { disableEndpoint } from './disable.ts';
import { createNetworks } from './networks.ts';
import { replayDelivery } from './replay.ts';
import { updateEndpoint } from './update.ts';

const id = 'endpoint_1';
const url = 'https://receiver.example/hook';

const addEndpoint = async ({ sql, environment }: TestEngine, endpoint = id): Promise<void> =>
  void (await sql`
    insert into notification_endpoints (id, env, url, types, sealed, created_at)
    values (${endpoint}, ${environment.id}, ${url}, '{*}', '', now())`);

const waiting = async ({ sql }: TestEngine, count: number): Promise<void> =>
  await expect.poll(() => lockWaiters(sql), { timeout: 20_000 }).toHaveLength(count);

const switchOff: Record<string, (fixture: TestEngine) => Promise<unknown>> = {
  'by a user': ({ sql, environment }) =>
    updateEndpoint(
      sql,
      masterKeyOf(Buffer.alloc(32, 1)),
      { networks: createNetworks(), resolve: async () => [] },
      { env: environment.id, id, body: { enabled: false }, now: new Date() },
      async () => {},
    ),
  'because of its failures': ({ sql, engine, environment }) =>
    disableEndpoint(sql, engine.log, {
      endpoint: { id, env: environment.id, url },
      by: 'failing',
      now: new Date(),
    }),
};

test.each(Object.keys(switchOff))(
  'an endpoint disabled %s receives nothing more, not even a concurrent notification',
  async (how) => {
    const fixture = await testEngine();
    const { sql, environment } = fixture;
    await addEndpoint(fixture);
    const { coming } = await sql.begin(async (tx) => {
      await tx`select notify_endpoints(${environment.id}, now(), 'run.failed', '{}')`;
      const switching = switchOff[how]?.(fixture);
      // It either waits for the notification or ends without it.
      await Promise.race([switching, waiting(fixture, 1)]);
      return { coming: switching };
    });
    await coming;
    expect(await sql`select due, failure from notification_deliveries`).toEqual([
      { due: null, failure: 'The endpoint was disabled' },
    ]);
  },
);

test('two endpoints can be disabled at the same time, and a concurrent replay leaves nothing due', async () => {
  const fixture = await testEngine();
  const { sql, engine, environment } = fixture;
  const other = 'endpoint_2';
  await addEndpoint(fixture);
  await addEndpoint(fixture, other);
  await sql`select notify_endpoints(${environment.id}, now(), 'run.failed', '{}')`;
  await sql`update notification_deliveries set due = null, delivered_at = now()`;
  const [delivery] = await sql<{ id: string }[]>`
    select id from notification_deliveries where endpoint_id = ${id}`;
  const disable = (endpoint: string) =>
    disableEndpoint(sql, engine.log, {
      endpoint: { id: endpoint, env: environment.id, url },
      by: 'gone',
      now: new Date(),
    });
  const { coming } = await sql.begin(async (tx) => {
    await tx`select from notification_endpoints for key share`;
    const both = [disable(id), disable(other)];
    await waiting(fixture, 2);
    return { coming: both };
  });
  await Promise.all(coming);
  expect(await sql`select disabled_by from notification_endpoints`).toEqual([
    { disabled_by: 'gone' },
    { disabled_by: 'gone' },
  ]);

  await sql`update notification_endpoints set disabled_at = null, disabled_by = null where id = ${id}`;
  const { replaying } = await sql.begin(async (tx) => {
    await tx`select from notification_endpoints where id = ${id} for update`;
    const again = replayDelivery(sql, { env: environment.id, id: delivery?.id ?? '', now: new Date() });
    again.catch(() => {});
    await waiting(fixture, 1);
    await tx`update notification_endpoints set disabled_at = now(), disabled_by = 'user' where id = ${id}`;
    return { replaying: again };
  });
  await expect(replaying).rejects.toMatchObject({ status: 409 });
  expect(
    await sql`select from notification_deliveries where endpoint_id = ${id} and due is not null`,
  ).toEqual([]);
});
