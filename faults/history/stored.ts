/** Reads the content of the database after the load has ended. */
import type pg from 'pg';
import { sessions } from '@millrace/sdk';
import type { Stored, StoredRun } from './types.ts';

/** Runs of the load have the key in their payload; those of sessions have the name of their channel. */
const ofLoad = `starts_with(r.payload::jsonb ->> 'key', $1)`;

/** Strings are stored as plain text. */
const jsonOf = (table: string): string =>
  `case ${table}.output_type when 'application/json' then ${table}.output::jsonb else to_jsonb(${table}.output) end`;

export async function readRuns(client: pg.Client, prefix: string): Promise<StoredRun[]> {
  const { rows } = await client.query<StoredRun>(
    `select r.id, r.task, r.status, r.payload::jsonb ->> 'key' as key, ${jsonOf('r')} as output
       from runs r where r.task not in ('tick', 'chat') and ${ofLoad}`,
    [`${prefix}-`],
  );
  return rows;
}

export async function readStored(
  client: pg.Client,
  prefix: string,
  channels: readonly string[],
  since: Date,
): Promise<Stored> {
  const all = async <T>(sql: string, values: unknown[]): Promise<T[]> =>
    (await client.query(sql, values)).rows as T[];
  return {
    runs: await readRuns(client, prefix),
    lost: await all(
      `select a.run_id as run, n.pid, a.outcome from attempts a
         join runs r on r.env = a.env and r.id = a.run_id join runner_names n on n.no = a.runner_no
        where a.outcome in ('LOST', 'DETACHED') and ${ofLoad}`,
      [`${prefix}-`],
    ),
    steps: await all(
      `select s.run_id as run, s.name, ${jsonOf('s')} as value from run_steps s
         join runs r on r.env = s.env and r.id = s.run_id where ${ofLoad}`,
      [`${prefix}-`],
    ),
    ticks: await all(
      `select to_char(nominal_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as nominal, run_id as run
         from schedule_ticks where nominal_at > $1 and nominal_at <= now()`,
      [since],
    ),
    skips: await all(
      `select to_char(from_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as from,
              to_char(until_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as until, reason
         from schedule_skips where until_at > $1`,
      [since],
    ),
    due: (
      await all<{ nominal: string }>(
        `select to_char(t at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as nominal
           from generate_series(date_trunc('minute', $1::timestamptz) + interval '1 minute',
                                now() - interval '5 seconds', interval '1 minute') t`,
        [since],
      )
    ).map(({ nominal }) => nominal),
    channels: Object.fromEntries(
      await Promise.all(channels.map(async (channel) => [channel, await readChannel(channel)] as const)),
    ),
  };
}

async function readChannel(channel: string): Promise<{ seq: number; value: string }[]> {
  const records: { seq: number; value: string }[] = [];
  let value = '';
  const onEventId = (seq: number): void => {
    records.push({ seq, value });
    value = '';
  };
  const chunks = sessions
    .open(channel)
    .out.read<{ value?: string; reply?: string }>({ timeoutInSeconds: 2, onEventId });
  for await (const chunk of chunks) value = chunk.value ?? `reply ${chunk.reply}`;
  return records;
}
