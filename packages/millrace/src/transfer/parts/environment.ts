import { z } from 'zod';
import { compared, isSameJson, type Part } from '../part.ts';

const limits = z.object({ paused: z.boolean(), concurrencyLimit: z.int().min(0).nullable() });

/** Pause and limit of all queues together. */
export const environment: Part<z.infer<typeof limits>> = {
  kind: 'environment',
  record: limits,
  on: 'queues',
  async *read({ client }) {
    const { paused, concurrencyLimit } = await client.call('retrieveConcurrency');
    if (paused || concurrencyLimit !== null) yield { paused, concurrencyLimit };
  },
  async plan(records, { client }, { override }) {
    const { paused, concurrencyLimit } = await client.call('retrieveConcurrency');
    const own = { paused, concurrencyLimit };
    const isDefault = !paused && concurrencyLimit === null;
    return records.map((entry) => {
      const name = `${entry.paused ? 'paused' : 'not paused'}, limit ${entry.concurrencyLimit ?? 'none'}`;
      const is = isSameJson(own, entry) ? 'same' : isDefault ? 'missing' : 'other';
      return compared({ kind: 'environment', name, is, override }, async () => {
        await client.call('updateConcurrency', { body: entry });
        return undefined;
      });
    });
  },
};

const days = z.int().min(1).max(36_500).nullish();
const retained = z.object({ runsDays: days, completedDays: days, failedDays: days, canceledDays: days });
const periods = ['runsDays', 'completedDays', 'failedDays', 'canceledDays'] as const;

/** How long finished runs are kept. */
export const retention: Part<z.infer<typeof retained>> = {
  kind: 'retention',
  record: retained,
  on: 'runs',
  isAdmin: true,
  async *read({ client }) {
    const own = await client.call('retrieveRetention');
    const set = periods.filter((name) => own[name] !== null);
    if (set.length > 0) yield Object.fromEntries(set.map((name) => [name, own[name]]));
  },
  async plan(records, { client }, { override }) {
    const own = await client.call('retrieveRetention');
    return records.map((record) => {
      const same = periods.every((name) => own[name] === (record[name] ?? null));
      const is = same ? 'same' : periods.every((name) => own[name] === null) ? 'missing' : 'other';
      const name = periods.flatMap((period) => record[period] ?? []).join(', ');
      return compared({ kind: 'retention', name: `${name} days`, is, override }, async () => {
        const body = Object.fromEntries(periods.map((period) => [period, record[period] ?? null]));
        await client.call('updateRetention', { body });
        return undefined;
      });
    });
  },
};

const path = z.object({ path: z.string().min(1).max(256) });

/** Paths by which runs are found. */
export const runPaths: Part<z.infer<typeof path>> = {
  kind: 'run-path',
  record: path,
  on: 'runs',
  async *read({ client }) {
    for (const entry of (await client.call('listRunPaths')).data) yield { path: entry.path };
  },
  async plan(records, { client }) {
    const own = new Set((await client.call('listRunPaths')).data.map((entry) => entry.path));
    return records.map((entry) =>
      compared(
        { kind: 'run-path', name: entry.path, is: own.has(entry.path) ? 'same' : 'missing', override: false },
        async () => {
          await client.call('declareRunPath', { body: entry });
          return undefined;
        },
      ),
    );
  },
};
