import { raw } from 'sql-template-tag';
import type { Environment } from '../../auth/principal.ts';
import { unprocessable } from '../../problem.ts';
import type { Engine } from '../engine/engine.ts';
import { prepareRun } from './prepare.ts';
import { columns, type NewRun } from './row.ts';

export interface OtherPayload {
  readonly payload?: unknown;
  readonly payloadType?: string | undefined;
  readonly fromStep?: string | undefined;
}

interface ReplayedRow extends Readonly<Record<string, unknown>> {
  readonly task: string;
  readonly queue_id: number;
  readonly payload: string | null;
  readonly payload_type: string | null;
  readonly concurrency_key: string | null;
  readonly tags: string[] | null;
  readonly metadata: string | null;
  readonly is_test: boolean;
  readonly singleton_key: string | null;
  readonly erased_at: Date | null;
}

const unchanged = Object.entries(columns).filter(([, { isReplayed }]) => isReplayed);
const unchangedColumns = raw(unchanged.map(([, { name }]) => `r.${name}`).join(', '));

/**
 * A new run of the same task that copies the payload, queue, tags, test mark, first metadata, concurrency key and singleton key of an old run,
 * plus its columns that replays copy unchanged. It runs on the version current at that time. Everything else (delay, ttl, idempotency,
 * attempts, priority, version, parent) is as for a trigger without options.
 */
export async function prepareReplay(
  engine: Engine,
  environment: Environment,
  run: string,
  other: OtherPayload = {},
): Promise<NewRun | undefined> {
  const [row] = await engine.sql<ReplayedRow[]>`
    select r.task, r.queue_id, coalesce(r.payload, c.payload) as payload, coalesce(r.payload_type, c.payload_type) as payload_type, r.concurrency_key, r.tags,
           coalesce(r.seed_metadata, r.metadata) as metadata, r.is_test, r.singleton_key, r.erased_at,
           ${unchangedColumns}
      from runs r
      left join lateral (select * from collected_payload(r.env, r.id) x where r.collect_key is not null) c on true
     where r.env = ${environment.id} and r.id = ${run}`;
  if (!row) return undefined;
  if (row.erased_at !== null && other.payload === undefined) {
    throw unprocessable(
      `The data of ${run} was erased. Replay it with a payload, or trigger ${row.task} again.`,
      'run_erased',
    );
  }
  const request = {
    ...(other.payload === undefined ? payloadOf(row) : { payload: other.payload }),
    options: {
      payloadType: other.payload === undefined ? (row.payload_type ?? undefined) : other.payloadType,
      concurrencyKey: row.concurrency_key ?? undefined,
      tags: row.tags ?? undefined,
      metadata: row.metadata ?? undefined,
      metadataType: 'application/json',
      test: row.is_test,
      singleton: row.singleton_key === null ? undefined : { key: row.singleton_key || undefined },
    },
  };
  const prepared = await prepareRun(engine, environment, row.task, request, { isWhole: true });
  return {
    ...prepared,
    ...(Object.fromEntries(
      unchanged.map(([property, { name }]) => [property, row[name]]),
    ) as Partial<NewRun>),
    // The queue itself, because its name may contain characters that the wire format does not allow, like that of a task.
    queueId: row.queue_id,
    replayOf: run,
    fromStep: other.fromStep,
  };
}

/** The payload as a trigger would send it: a value for JSON, the text itself for other types. */
function payloadOf({ payload, payload_type }: ReplayedRow): { payload?: unknown } {
  if (payload === null) return {};
  return { payload: payload_type === null ? (JSON.parse(payload) as unknown) : payload };
}
