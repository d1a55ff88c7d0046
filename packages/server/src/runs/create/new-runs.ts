import type { Sql as Template } from 'sql-template-tag';
import type { Queryable } from '../../db/connect.ts';
import { partMetaOf, partOf } from './collect.ts';
import { debounceData } from './debounce.ts';
import { newRunsOf } from './parameters.ts';
import {
  columns,
  everydayColumns,
  isEveryday,
  isEverydayItem,
  itemColumns,
  requestColumns,
  type Column,
  type NewRun,
} from './row.ts';

/** Attributes that affect the run but are not stored with it. */
const decidingColumns = {
  state: { name: 'state', type: 'text', value: (run) => run.state },
  expiresAt: { name: 'expires_at', type: 'timestamptz', value: (run) => run.expiresAt },
  parentFence: { name: 'parent_fence', type: 'bigint', value: (run) => run.parentFence },
  idempotencyExpiresAt: {
    name: 'idempotency_expires_at',
    type: 'timestamptz',
    value: (run) => run.idempotencyExpiresAt,
  },
  debounceMaxMs: { name: 'debounce_max_ms', type: 'bigint', value: (run) => run.debounce?.maxMs },
  debounceData: { name: 'debounce_data', type: 'jsonb', value: debounceData },
  singletonConflict: {
    name: 'singleton_conflict',
    type: 'text',
    value: (run) => run.singleton?.onConflict,
  },
  limitKey: { name: 'limit_key', type: 'text', value: (run) => run.triggerLimit?.key },
  limitBurst: { name: 'limit_burst', type: 'int', value: (run) => run.triggerLimit?.burst },
  limitSpan: { name: 'limit_span', type: 'bigint', value: (run) => run.triggerLimit?.span },
  limitDrops: { name: 'limit_drops', type: 'boolean', value: (run) => run.triggerLimit?.drops },
  collectLane: { name: 'collect_lane', type: 'text', value: (run) => run.collection?.lane },
  collectMax: { name: 'collect_max', type: 'int', value: (run) => run.collection?.maxSize },
  collectMs: { name: 'collect_ms', type: 'bigint', value: (run) => run.collection?.maxWaitMs },
  part: { name: 'part', type: 'text', value: (run) => run.collection && partOf(run) },
  partMeta: { name: 'part_meta', type: 'jsonb', value: (run) => run.collection && partMetaOf(run) },
  runner: { name: 'runner_id', type: 'text', value: (run) => run.offer?.runner },
  runnerVersion: { name: 'runner_version', type: 'int', value: (run) => run.offer?.version },
} satisfies Record<string, Column>;

const { state, expiresAt, runner, runnerVersion } = decidingColumns;
const everyday = newRunsOf({
  each: { ...everydayColumns, ...requestColumns, state, expiresAt, runner, runnerVersion },
});

const { env, ...ofEach } = everydayColumns;
const { due, pinnedVersion, ...ofBatch } = itemColumns;
const items = newRunsOf({
  once: { env, ...ofBatch, state },
  each: { ...ofEach, due, pinnedVersion, expiresAt },
  long: ['id', 'task', 'payload'],
});

/** All attributes that a caller sets. A test compares them with the type. */
export const newRunColumns: Readonly<Record<string, Column>> = { ...columns, ...decidingColumns };
const general = newRunsOf({ each: newRunColumns });

/** Runs as an argument of `create_runs`, with only the columns they use, since most triggers and batch items have few. */
export function newRuns(sql: Queryable, runs: readonly NewRun[]): Template {
  if (runs.every(isEveryday)) return everyday({ sql, runs });
  const batch = runs[0]?.batch;
  const isOfBatch = (run: NewRun): boolean => run.batch === batch && isEverydayItem(run);
  return batch !== undefined && runs.every(isOfBatch) ? items({ sql, runs }) : general({ sql, runs });
}
