import type { TriggerOptions } from '@millrace/contract';
import type { OneTimeUse } from '../../auth/one-time.ts';
import type { Value } from '../../db/columns.ts';
import { redactKeys } from '../../envvars/redact/key-shapes.ts';
import { pathFacets, type RunPath } from '../facets/path-facets.ts';

export interface Debounce {
  readonly key: string;
  /** How long after its creation a run can be pushed, in milliseconds; null means no limit. */
  readonly maxMs: number | null;
  /** Whether the run takes the data of the latest trigger instead of keeping that of the first. */
  readonly trailing: boolean;
}

/** At most one run of the task with this key executes, and at most one waits. */
export interface Singleton {
  /** The singleton key; empty for the whole task. */
  readonly key: string;
  /** The effect of a trigger while such a run is live. */
  readonly onConflict: 'skip' | 'replace' | 'queue';
}

/** A limit above which triggers are rejected. */
export interface TriggerLimit {
  /** The limit key; empty for the whole task. */
  readonly key: string;
  /** The maximum number of triggers in any span. */
  readonly burst: number;
  /** The span in microseconds. The number of spans that fit into the period is the limit divided by the burst. */
  readonly span: number;
  readonly drops: boolean;
}

/** The trigger adds its payload to the run that collects under this key, or to a new one. */
export interface Collection {
  /** The collect key; empty for the whole task. */
  readonly key: string;
  /** Queue, concurrency key, version and similar settings: only triggers with equal settings share a run. */
  readonly lane: string;
  readonly maxSize: number;
  readonly maxWaitMs: number;
}

/** A run to be created. */
export interface NewRun extends PlainOptions {
  readonly env: number;
  readonly id: string;
  readonly task: string;
  /** Where the run waits: in a lane, for its time, for a version that has its task, or for its batch to be sealed. */
  readonly state: 'queued' | 'delayed' | 'pendingVersion' | 'unsealed';
  readonly queueId: number;
  /** The deployment that the run waits for or is bound to. */
  readonly externalDeploymentId?: string | undefined;
  /** The concurrency key; empty for none. */
  readonly concurrencyKey: string;
  /** The id of the version that the run is locked to; 0 for the version that is current when it starts. */
  readonly pinnedVersion: number;
  /** Its order in the lane: due time in milliseconds since 1970, minus its priority. */
  readonly sortKey: number;
  readonly payload: string | null;
  /** The payload type; null for `application/json`, the most common one. */
  readonly payloadType: string | null;
  readonly expiresAt: Date | null;
  /** Time to live in seconds. */
  readonly ttl: number | null;
  readonly due: Date | null;
  readonly idempotencyKey: string | null;
  readonly idempotencyExpiresAt: Date | null;
  /** Key options as JSON text. */
  readonly idempotencyOptions: string | null;
  /** The trigger is merged into the delayed run with the same key, which is then postponed. */
  readonly debounce?: Debounce;
  readonly singleton?: Singleton | undefined;
  readonly collection?: Collection | undefined;
  readonly triggerLimit?: TriggerLimit | undefined;
  /** A uuid from the request; resent, it resolves to the same run. */
  readonly requestKey?: string;
  /** The run that this one replays. */
  readonly replayOf?: string;
  /** The first step to execute again: the results of earlier steps are copied. */
  readonly fromStep?: string | undefined;
  /** The batch that the run belongs to. */
  readonly batch?: string;
  readonly tags: readonly string[];
  /** The paths declared by its environment; undefined for none. */
  readonly paths?: readonly RunPath[] | undefined;
  /** Metadata as JSON text. */
  readonly metadata: string | null;
  /** Maximum duration in seconds. */
  readonly maxDuration: number | null;
  readonly priorityMs: number;
  readonly isTest: boolean;
  readonly parentId: string | null;
  /** The fence of the parent's attempt that triggers the run. */
  readonly parentFence?: number | undefined;
  /** Null without a parent, and if the statement that inserts the run looks it up. The same holds for the depth. */
  readonly rootId: string | null;
  readonly depth: number;
  /** The schedule whose tick created the run. */
  readonly scheduleId?: string;
  /** The W3C trace context of the caller. */
  readonly traceparent?: string | null;
  /** JSON text: the properties of the starting event that the run receives. */
  readonly event?: string;
  /** The one-time token that creating the run uses up. */
  readonly oneTime?: OneTimeUse;
  /** A runner of this process with a free slot, to which the run may be leased at once, and the version it would execute. */
  readonly offer?: { readonly runner: string; readonly version: number } | undefined;
}

/** The outcome of a trigger. */
export interface InsertedRow {
  /** The run that the trigger resolved to: new or existing. Empty for a rejected trigger. */
  readonly run_id: string;
  /** Whether an idempotency key or a singleton key resolved to another run. */
  readonly cached: boolean;
  /** The fence of the run's lease. */
  readonly fence: string | null;
  readonly root_id: string | null;
  /** Why the run was not created: because of its parent, or a limit (`exceededLimit`). */
  readonly refused: string | null;
}

/** The row of a created run that waits. */
export const inserted = ({ id, rootId }: NewRun): InsertedRow => ({
  run_id: id,
  cached: false,
  fence: null,
  root_id: rootId,
  refused: null,
});

/** Options stored unchanged. */
export const plainOptions = ({
  maxAttempts,
  machine,
  region,
  description,
}: Pick<TriggerOptions, PlainOption> = {}) => ({
  maxAttempts: maxAttempts ?? null,
  machine: machine ?? null,
  region: region ?? null,
  description: description === undefined ? null : redactKeys(description),
});
type PlainOption = 'maxAttempts' | 'machine' | 'region' | 'description';
type PlainOptions = Readonly<ReturnType<typeof plainOptions>>;

/** An attribute of `new_run`, and usually a column of `runs` that is written when a run is created. */
export interface Column {
  readonly name: string;
  readonly type: 'smallint' | 'int' | 'bigint' | 'text' | 'uuid' | 'boolean' | 'jsonb' | 'timestamptz';
  /** The value to send, or null if the run does not have it. */
  readonly value: (run: NewRun) => Value;
  /** Whether the value is sent as the text of an array: PostgreSQL has no arrays of arrays of different lengths. */
  readonly isArray?: true;
  /** Whether, in trailing mode, a debounced run takes it from its latest trigger. */
  readonly isDebounced?: true;
  /** Whether a replay copies it unchanged from the original run. */
  readonly isReplayed?: true;
}

/** A collected payload is not a column of the run until the run starts. */
const whole = (run: NewRun): NewRun | undefined => (run.collection ? undefined : run);

/** Columns of a run without special options. */
export const everydayColumns = {
  env: { name: 'env', type: 'int', value: (run) => run.env },
  id: { name: 'id', type: 'text', value: (run) => run.id },
  task: { name: 'task', type: 'text', value: (run) => run.task },
  queueId: { name: 'queue_id', type: 'int', value: (run) => run.queueId },
  concurrencyKey: { name: 'concurrency_key', type: 'text', value: (run) => run.concurrencyKey || null },
  payload: { name: 'payload', type: 'text', value: (run) => whole(run)?.payload, isDebounced: true },
  payloadType: {
    name: 'payload_type',
    type: 'text',
    value: (run) => whole(run)?.payloadType,
    isDebounced: true,
  },
  metadata: { name: 'metadata', type: 'text', value: (run) => run.metadata, isDebounced: true },
  sortKey: { name: 'sort_key', type: 'bigint', value: (run) => run.sortKey },
  priorityMs: { name: 'priority_ms', type: 'int', value: (run) => run.priorityMs },
  ttl: { name: 'ttl', type: 'int', value: (run) => run.ttl },
  maxAttempts: { name: 'max_attempts', type: 'int', value: (run) => run.maxAttempts, isDebounced: true },
  maxDuration: { name: 'max_duration', type: 'int', value: (run) => run.maxDuration, isDebounced: true },
} satisfies Record<string, Column>;

/** Columns that single triggers have but batch items do not. */
export const requestColumns = {
  requestKey: { name: 'request_key', type: 'uuid', value: (run) => run.requestKey },
} satisfies Record<string, Column>;

/** Columns that only batch items have. An everyday trigger has none of them. */
export const itemColumns = {
  due: { name: 'delayed_until', type: 'timestamptz', value: (run) => run.due },
  pinnedVersion: { name: 'version_id', type: 'int', value: (run) => run.pinnedVersion || null },
  batch: { name: 'batch_id', type: 'text', value: (run) => run.batch },
  parentId: { name: 'parent_id', type: 'text', value: (run) => run.parentId },
  rootId: { name: 'root_id', type: 'text', value: (run) => run.rootId },
  depth: {
    name: 'depth',
    type: 'smallint',
    value: (run) => run.depth || null,
  },
} satisfies Record<string, Column>;

/** Columns that everyday runs do not have. */
const specialColumns = {
  tags: {
    name: 'tags',
    type: 'text',
    value: (run) => (run.tags.length > 0 ? arrayText(run.tags) : null),
    isArray: true,
    isDebounced: true,
  },
  pathFacets: {
    name: 'path_facets',
    type: 'text',
    value(run) {
      const facets = facetsOf(run);
      return facets.length > 0 ? arrayText(facets) : null;
    },
    isArray: true,
    isDebounced: true,
  },
  machine: {
    name: 'machine',
    type: 'text',
    value: (run) => run.machine,
    isDebounced: true,
    isReplayed: true,
  },
  region: { name: 'region', type: 'text', value: (run) => run.region, isReplayed: true },
  description: {
    name: 'description',
    type: 'text',
    value: (run) => run.description,
    isDebounced: true,
    isReplayed: true,
  },
  isTest: {
    name: 'is_test',
    type: 'boolean',
    value: (run) => run.isTest || null,
  },
  idempotencyKey: { name: 'idempotency_key', type: 'text', value: (run) => run.idempotencyKey },
  idempotencyOptions: {
    name: 'idempotency_key_options',
    type: 'jsonb',
    value: (run) => run.idempotencyOptions,
  },
  debounceKey: { name: 'debounce_key', type: 'text', value: (run) => run.debounce?.key },
  singletonKey: { name: 'singleton_key', type: 'text', value: (run) => run.singleton?.key },
  collectKey: { name: 'collect_key', type: 'text', value: (run) => run.collection?.key },
  scheduleId: { name: 'schedule_id', type: 'text', value: (run) => run.scheduleId },
  event: { name: 'event', type: 'text', value: (run) => run.event },
  traceparent: { name: 'traceparent', type: 'text', value: (run) => run.traceparent, isDebounced: true },
  replayOf: { name: 'replay_of', type: 'text', value: (run) => run.replayOf },
  externalDeploymentId: {
    name: 'external_deployment_id',
    type: 'text',
    value: (run) => run.externalDeploymentId,
  },
} satisfies Record<string, Column>;

/** Every column that is written when a run is created. The statements add `created_at`, which is the same for all their runs. */
export const columns: Readonly<Record<string, Column>> = {
  ...everydayColumns,
  ...requestColumns,
  ...itemColumns,
  ...specialColumns,
};

const none: readonly string[] = [];
const computed = new WeakMap<NewRun, readonly string[]>();

/** The facets of a run's declared paths, from its data when it is written. */
export function facetsOf(run: NewRun): readonly string[] {
  if (!run.paths) return none;
  const known = computed.get(run) ?? pathFacets(run.paths, run.collection ? { ...run, payload: null } : run);
  computed.set(run, known);
  return known;
}

const arrayText = (texts: readonly string[]): string =>
  `{${texts.map((text) => `"${text.replace(/["\\]/g, String.raw`\$&`)}"`).join()}}`;

const conditional = [...Object.values(itemColumns), ...Object.values(specialColumns)] as readonly Column[];
const special = Object.values(specialColumns) as readonly Column[];

/** A run without special options that is queued immediately, for the version current at its start. */
export const isEveryday = (run: NewRun): boolean =>
  run.state === 'queued' && run.triggerLimit === undefined && lacks(run, conditional);

/** A batch item without special options. */
export const isEverydayItem = (run: NewRun): boolean => run.triggerLimit === undefined && lacks(run, special);

const lacks = (run: NewRun, some: readonly Column[]): boolean =>
  some.every(({ value }) => (value(run) ?? null) === null);
