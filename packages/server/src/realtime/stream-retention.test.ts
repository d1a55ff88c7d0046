import { expect, onTestFinished, test } from 'vitest';
import { startChannels } from '../channels/channels.ts';
import { runStream } from '../channels/key.ts';
import { channelPruner } from '../channels/prune.ts';
import { testEngine } from '../runs/testing/engine.ts';
import { openStreams } from './open-stream.ts';

const day = 86_400_000;

test('the stream of a run is retained until the record retention has passed after the end of the run', async () => {
  const { engine, sql, environment, register, trigger, addRunner, claim, end, database } = await testEngine();
  const { clock, wakes, changes } = engine;
  const channels = startChannels({ database, sql, clock, wakes });
  onTestFinished(channels.stop);
  const version = await register('send');
  const streams = openStreams({ sql, clock, changes, channels });
  const runs = [(await trigger('send')).id, (await trigger('send')).id];
  await addRunner('r1');
  const attempts = await claim('r1', [version.id], 2);
  const write = async (run: string, stream: string) => {
    const key = await streams.open(environment.id, run, 'self', stream);
    await channels.append(key, [{ body: 'x' }], {});
  };
  for (const run of runs) await write(run, 'out');
  await streams.open(environment.id, runs[0]!, 'self', 'empty');
  const counts = async () =>
    Promise.all(runs.map(async (run) => (await channels.tail(runStream(environment.id, run, 'out')))?.tail));
  const pruner = channelPruner(sql, clock, 7 * day);
  const prune = async () => {
    while (await pruner.tick());
  };
  await end(attempts.find(({ run }) => run === runs[1])!);
  clock.shift(8 * day);
  await prune();
  expect(await counts()).toEqual([1, undefined]);
  // The run continues and finds its streams.
  await write(runs[0]!, 'out');
  await write(runs[0]!, 'empty');
  expect((await channels.read(runStream(environment.id, runs[0]!, 'out'), 0)).records).toHaveLength(2);

  await end(attempts.find(({ run }) => run === runs[0])!);
  clock.shift(6 * day);
  await prune();
  expect(await counts()).toEqual([2, undefined]);
  clock.shift(2 * day);
  await prune();
  expect(await counts()).toEqual([undefined, undefined]);
  expect(await sql`select from channel_segments`).toHaveLength(0);
});
