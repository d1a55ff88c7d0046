/** Runs as rows of the shape protocol: strings in PostgreSQL's format, with a schema that describes how to read them. */
import { durationText, isFinal, type RunStatus } from '@millrace/contract';
import { responseObject, responseText } from '../json/response.ts';
import { shownKey } from '../runs/create/idempotency-key.ts';
import { errorResponse } from '../runs/retrieve/error-response.ts';
import type { RunSnapshot } from './run-snapshot.ts';

interface Column {
  readonly type: string;
  readonly dims?: number;
  /** The value never changes, so it is included only in the first message about a run. */
  readonly fixed?: boolean;
  /** The column cannot be omitted. */
  readonly always?: boolean;
  value(run: RunSnapshot): string | null;
}

const text = (value: Column['value']): Column => ({ type: 'text', value });
const time = (value: (run: RunSnapshot) => Date | null): Column => ({
  type: 'timestamp',
  // Clients add the Z.
  value: (run) => value(run)?.toISOString().slice(0, -1) ?? null,
});
const number = (type: 'int4' | 'float8', value: (run: RunSnapshot) => string | number): Column => ({
  type,
  value: (run) => String(value(run)),
});
const always = (column: Column): Column => ({ ...column, always: true });
const fixed = (column: Column): Column => ({ ...column, fixed: true });

const isDone = (run: RunSnapshot): boolean => run.status === 'COMPLETED';
const output = (run: RunSnapshot): string | null => (isDone(run) ? data(run.output, run.output_type) : null);
const data = (stored: string | null, type: string | null): string | null =>
  stored === null || type === 'text/plain' ? stored : responseText(stored);
const metadata = (run: RunSnapshot): string | null => run.metadata && responseText(run.metadata);

/** The names of statuses that differ in this protocol. */
const statusNames: Partial<Record<RunStatus, string>> = {
  QUEUED: 'PENDING',
  COMPLETED: 'COMPLETED_SUCCESSFULLY',
  FAILED: 'COMPLETED_WITH_ERRORS',
  WAITING: 'WAITING_TO_RESUME',
};

const columns: Readonly<Record<string, Column>> = {
  id: always(text((run) => run.id)),
  taskIdentifier: always(text((run) => run.task)),
  friendlyId: always(text((run) => run.id)),
  status: always(text((run) => statusNames[run.status] ?? run.status)),
  createdAt: always(time((run) => run.created_at)),
  updatedAt: always(time((run) => run.updated_at)),
  startedAt: time((run) => run.started_at),
  delayUntil: time((run) => run.delayed_until),
  queuedAt: time((run) => run.delayed_until ?? run.created_at),
  expiredAt: time((run) => (run.status === 'EXPIRED' ? run.finished_at : null)),
  completedAt: time((run) => run.finished_at),
  idempotencyKey: text((run) => shownKey(run.idempotency_key) ?? null),
  number: number('int4', () => 0),
  isTest: { type: 'bool', value: (run) => String(run.is_test) },
  usageDurationMs: number('float8', (run) => run.duration_ms),
  costInCents: number('float8', () => 0),
  baseCostInCents: number('float8', () => 0),
  ttl: text((run) => (run.ttl === null ? null : durationText(run.ttl))),
  payload: fixed(text((run) => data(run.payload, run.payload_type))),
  payloadType: fixed(text((run) => run.payload_type ?? 'application/json')),
  metadata: text(metadata),
  metadataType: text(() => 'application/json'),
  output: text(output),
  outputType: text((run) => (isDone(run) ? (run.output_type ?? 'application/json') : null)),
  runTags: { type: 'text', dims: 1, value: (run) => arrayText(run.tags ?? []) },
  error: { type: 'jsonb', value: (run) => errorText(run) },
  realtimeStreams: { type: 'text', dims: 1, value: (run) => arrayText(run.streams ?? []) },
};

const metadataWithStreams = (run: RunSnapshot): string | null =>
  run.streams && run.streams.length > 0
    ? JSON.stringify({ ...responseObject(run.metadata ?? '{}'), $$streams: run.streams })
    : metadata(run);

/** The columns of a subscription, and the header that describes them. */
export class Shape {
  readonly #columns: readonly (readonly [name: string, column: Column])[];
  readonly schema: string;

  /**
   * `only` names the columns to include (default: all); `without` names those to omit, and takes precedence. With `streamsInMetadata`, the
   * names of a run's streams are in its metadata, where the published SDK before 4.1 expects them.
   */
  constructor(only: readonly string[] | undefined, without: readonly string[], streamsInMetadata = false) {
    const requested = only && new Set(only.map((name) => name.replaceAll('"', '')));
    const all = streamsInMetadata ? { ...columns, metadata: text(metadataWithStreams) } : columns;
    this.#columns = Object.entries(all).filter(
      ([name, column]) => column.always || ((requested?.has(name) ?? true) && !without.includes(name)),
    );
    this.schema = JSON.stringify(
      Object.fromEntries(
        this.#columns.map(([name, { type, dims }]) => [name, { type, ...(dims && { dims }) }]),
      ),
    );
  }

  /** The first message about a run has all columns; later ones omit those that never change. */
  message(run: RunSnapshot, operation: 'insert' | 'update') {
    const value = Object.fromEntries(
      this.#columns
        .filter(([, column]) => operation === 'insert' || !column.fixed)
        .map(([name, column]) => [name, column.value(run)]),
    );
    return { key: `"public"."TaskRun"/"${run.id}"`, value, headers: { operation } };
  }
}

/** An array of texts in PostgreSQL's format. */
export const arrayText = (values: readonly string[]): string =>
  `{${values.map((value) => `"${value.replaceAll(/["\\]/g, String.raw`\$&`)}"`).join(',')}}`;

function errorText({ error, status }: RunSnapshot): string | null {
  if (!error || !isFinal(status) || status === 'COMPLETED') return null;
  const { name, message, stackTrace } = error;
  const { causes } = errorResponse(error);
  // Clients accept any content for this type. For other types, they accept only known codes.
  return JSON.stringify({ type: 'BUILT_IN_ERROR', name, message, stackTrace, causes });
}
