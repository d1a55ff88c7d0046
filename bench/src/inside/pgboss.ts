/** pg-boss inside a process. Tuned: batches of 200 settled one by one, LISTEN/NOTIFY on, heartbeats of 10 s. */
import { PgBoss, type Settings } from 'pg-boss';
import type { Sample } from '../../project/recorder.ts';
import type { Address, Client, Profile } from '../system.ts';

export async function open(database: string, settings: Settings): Promise<PgBoss> {
  const boss = new PgBoss({ connectionString: database, ...settings });
  boss.on('error', (error) => console.error('pg-boss', error.message));
  await boss.start();
  return boss;
}

const tunedQueue = { notify: true, heartbeatSeconds: 10, retryLimit: 5 };

export async function openClient({ database = '' }: Address, profile: Profile): Promise<Client> {
  const boss = await open(database, { max: 32, supervise: false, schedule: false });
  await boss.createQueue('noop', profile === 'tuned' ? tunedQueue : {});
  return {
    add: (sample) => boss.send('noop', sample),
    addMany: (samples) =>
      boss.insert(
        'noop',
        samples.map((data) => ({ data })),
      ),
    close: () => boss.stop({ graceful: false }),
  };
}

export async function execute(
  { database = '' }: Address,
  profile: Profile,
  concurrency: number | undefined,
  body: (sample: Sample) => Promise<void>,
): Promise<() => Promise<unknown>> {
  const tuned = profile === 'tuned';
  const boss = await open(
    database,
    tuned ? { useListenNotify: true, superviseIntervalSeconds: 5, monitorIntervalSeconds: 5 } : {},
  );
  await boss.createQueue('noop', tuned ? tunedQueue : {});
  if (tuned) {
    // A batch fills one slot until its slowest run is done: where runs hang, batches of one.
    const slots = concurrency
      ? { batchSize: 1, localConcurrency: concurrency }
      : { batchSize: 200, localConcurrency: 2 };
    const settings = {
      ...slots,
      notifyPollingIntervalSeconds: 2,
      pollingIntervalSeconds: 0.5,
      perJobResults: true,
      burstWhenBatchFull: true,
    } as const;
    await boss.work<Sample>('noop', settings, (batch) =>
      Promise.all(
        batch.map(async ({ id, data }) => {
          await body(data);
          return { id, status: 'completed' as const };
        }),
      ),
    );
  } else {
    await boss.work<Sample>('noop', concurrency ? { localConcurrency: concurrency } : {}, async ([job]) => {
      if (job) await body(job.data);
    });
  }
  return () => boss.stop({ graceful: false });
}
