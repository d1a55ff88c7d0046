import { expect, test } from 'vitest';
import { connect } from '../../packages/server/src/db/connect.ts';
import { sessionPruner } from '../../packages/server/src/sessions/prune.ts';
import { channelPruner } from '../../packages/server/src/channels/prune.ts';
import { startClock } from '../../packages/server/src/db/clock.ts';
import { ownSessionServer } from './session-server.ts';

const day = 86_400_000;

test('a session that ended long ago is deleted with its records, and its external id can be used again', async () => {
  const server = await ownSessionServer();
  const { id } = await server.start({ externalId: 'a' });
  await server.start({ externalId: 'open' });
  for (const name of ['a', 'open']) await server.append(name, 'in', 'x', { 'x-part-id': 'p' });
  await server.ask('/api/v1/sessions/a/close', { method: 'POST', body: {} });
  const sql = connect(server.database, { name: 'test', max: 2 });
  const clock = await startClock(sql);
  clock.shift(11 * day);
  const sessions = sessionPruner({ sql, clock }, 10 * day);
  const channels = channelPruner(sql, clock, 10 * day);
  for (const job of [sessions, channels]) while (await job.tick());
  const counts = await sql`
    select (select count(*) from channels)::int as channels, (select count(*) from channel_segments)::int as segments,
           (select count(*) from channel_parts)::int as parts`;
  expect([...counts]).toEqual([{ channels: 2, segments: 0, parts: 0 }]);
  clock.stop();
  await sql.end();
  expect((await server.ask('/api/v1/sessions/a')).status).toBe(404);
  const again = await server.start({ externalId: 'a' });
  expect(again.id).not.toBe(id);
  expect((await server.append('a', 'in', 'x', { 'x-part-id': 'p' })).body).toEqual({ ok: true, seq: 0 });
  // An open session keeps only its numbering.
  expect((await server.append('open', 'in', 'y')).body.seq).toBe(1);
});
