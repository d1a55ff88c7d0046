import type { triggerBody } from '@millrace/contract';
import {
  lastMoment,
  parseDelay,
  parseDuration,
  sealedType,
  storedType,
  traceparent,
} from '@millrace/contract';
import type { TaskManifest } from '@millrace/contract/runner';
import type { z } from 'zod';
import type { Environment } from '../../auth/principal.ts';
import { newTimedId } from '../../db/ids.ts';
import { redactKeys } from '../../envvars/redact/key-shapes.ts';
import { usePacket } from '../../payloads/use.ts';
import { tryParse } from '../../json/foreign.ts';
import { jsonOfField, storableLevels } from '../../json/levels.ts';
import { badRequest, Problem, unprocessable } from '../../problem.ts';
import { cleanQueueName } from '../../queues/names.ts';
import { queueOf } from '../../versions/queues.ts';
import type { Engine } from '../engine/engine.ts';
import { storedKey, storedWaitKey, waitKeyMs } from './idempotency-key.ts';
import { findExternal, findLock, lockToCurrent, type KnownTask } from './lock.ts';
import { plainOptions, type NewRun } from './row.ts';
import { storableJson } from '../values/storable.ts';
import { checkPart, readCollection } from './collect.ts';
import { readSingleton } from './singleton.ts';
import { readTriggerLimit } from './trigger-limit.ts';
import { readDebounce } from './debounce.ts';

export type TriggerRequest = z.output<typeof triggerBody>;
type Options = NonNullable<TriggerRequest['options']>;

export const maxTags = 10;
const maxMetadataBytes = 262_144;
export const defaultIdempotencyMs = 30 * 86_400_000;
export const maxIdempotencyKeyLength = 2_048;
export const minMaxDuration = 5;
const maxInt = 2_147_483_647;
/** Time to live of a run in a development environment, so that runs do not pile up while no runner is connected. */
export const devTtlSeconds = 600;

/** Properties of a run that are not in the request body. */
export interface BesideBody {
  /** Older clients send the key as headers. */
  readonly idempotencyKey?: string | undefined;
  readonly idempotencyKeyTTL?: string | undefined;
  /** The header value; an invalid trace context counts as absent. */
  readonly traceparent?: string | undefined;
  /** The run id. Default: a new id. */
  readonly runId?: string | undefined;
  /** Whether it is an API call for one run, which counts toward a trigger limit. */
  readonly isLimited?: boolean;
  /** Whether the payload is complete: it is not collected with those of other triggers. */
  readonly isWhole?: boolean;
}

/**
 * Converts a trigger request to the row to be written: reads and validates options, and applies the task's defaults. Synchronous if this
 * process has cached the current version and the queue, which is nearly always the case.
 */
export function prepareRun(
  engine: Engine,
  environment: Environment,
  task: string,
  body: TriggerRequest,
  beside: BesideBody = {},
): NewRun | Promise<NewRun> {
  const current = engine.versions.current(environment.id);
  const options = body.options ?? {};
  if (
    current instanceof Promise ||
    (options.lockToVersion !== undefined && options.lockToVersion !== current?.version) ||
    options.externalDeploymentId !== undefined ||
    options.payloadType === storedType
  ) {
    return prepareSlowly(engine, environment, task, body, beside, current);
  }
  const known: KnownTask =
    current && options.lockToVersion !== undefined
      ? lockToCurrent(current, task)
      : { manifest: current?.tasks.get(task), lockedTo: undefined };
  const queueId = engine.queues.id(environment.id, queueName(task, options, known.manifest));
  return typeof queueId === 'number'
    ? buildRun(engine, environment, task, body, beside, queueId, known)
    : queueId.then((id) => buildRun(engine, environment, task, body, beside, id, known));
}

async function prepareSlowly(
  engine: Engine,
  environment: Environment,
  task: string,
  body: TriggerRequest,
  beside: BesideBody,
  currentSoon: ReturnType<Engine['versions']['current']>,
): Promise<NewRun> {
  const options = body.options ?? {};
  const current = await currentSoon;
  if (options.payloadType === storedType) await checkStored(engine, environment, body.payload);
  const manifest = current?.tasks.get(task);
  const known = await resolveTask(engine, environment.id, task, options, manifest);
  const queueId = await engine.queues.id(environment.id, queueName(task, options, known.manifest));
  return buildRun(engine, environment, task, body, beside, queueId, known);
}

async function resolveTask(
  { sql, versions }: Engine,
  env: number,
  task: string,
  { lockToVersion, externalDeploymentId }: Options,
  manifest: TaskManifest | undefined,
): Promise<KnownTask> {
  if (lockToVersion !== undefined) return findLock(versions, env, task, lockToVersion);
  const externalId = externalDeploymentId?.trim() ?? '';
  return externalId === ''
    ? { manifest, lockedTo: undefined }
    : ((await findExternal(sql, env, task, externalId)) ?? {
        manifest,
        lockedTo: undefined,
        awaited: externalId,
      });
}

const queueName = (task: string, options: Options, manifest: TaskManifest | undefined): string =>
  (options.queue && cleanQueueName(options.queue.name)) ??
  (manifest ? queueOf(manifest) : `task/${task}`.slice(0, 128));

/** Throws 422 unless the payload names an uploaded packet. The packet is retained for a day from this point, and the run exists by then. */
async function checkStored(
  { sql, clock }: Engine,
  environment: Environment,
  payload: unknown,
): Promise<void> {
  const name = typeof payload === 'string' ? payload : '';
  if (name !== '' && (await usePacket(sql, environment.id, name, new Date(clock.now())))) return;
  throw unprocessable(
    `payload: must be the name of an uploaded packet of this environment, because payloadType is ${storedType}; ` +
      `the packet "${name.slice(0, 128)}" does not exist.`,
  );
}

function buildRun(
  { clock, paths }: Engine,
  environment: Environment,
  task: string,
  body: TriggerRequest,
  beside: BesideBody,
  queueId: number,
  { manifest, lockedTo, awaited }: KnownTask,
): NewRun {
  const options = body.options ?? {};
  const now = clock.now();
  const debounced = options.debounce && readDebounce(options.debounce);
  // A debounce determines when its run is due. A delay given with it is validated and ignored.
  const delay = options.delay === undefined ? null : readDelay(options.delay, now);
  const collection =
    beside.isWhole || (manifest?.batch === undefined && options.batchKey === undefined)
      ? undefined
      : readCollection(options, task, manifest, [
          queueId,
          options.concurrencyKey ?? '',
          lockedTo ?? 0,
          awaited ?? '',
          options.test ?? false,
        ]);
  const due = collection ? now + collection.maxWaitMs : debounced ? now + debounced.delayMs : delay;
  if (due !== null && due > lastMoment) {
    throw badRequest(`options.${debounced ? 'debounce.' : ''}delay: must end by the year 9999.`);
  }
  const ttl = readTtl(options.ttl) ?? manifest?.ttl ?? (environment.kind === 'dev' ? devTtlSeconds : null);
  const priorityMs = Math.trunc(Math.max(-maxInt, Math.min(maxInt, (options.priority ?? 0) * 1_000)));
  const delayed = due !== null && due > now;
  const run: NewRun = {
    ...plainOptions(options),
    env: environment.id,
    id: beside.runId ?? newTimedId('run', now),
    task,
    state: delayed ? 'delayed' : manifest && awaited === undefined ? 'queued' : 'pendingVersion',
    queueId,
    concurrencyKey: options.concurrencyKey ?? '',
    pinnedVersion: lockedTo ?? 0,
    externalDeploymentId: awaited,
    sortKey: Math.max(due ?? now, now) - priorityMs,
    ...readPayload(body.payload, options.payloadType),
    ttl,
    expiresAt: ttl !== null && ttl > 0 && !delayed ? new Date(now + ttl * 1_000) : null,
    due: delayed ? new Date(due) : null,
    ...readIdempotency(options, beside, now),
    idempotencyOptions: options.idempotencyKeyOptions ? storableJson(options.idempotencyKeyOptions) : null,
    ...(debounced && { debounce: debounced.debounce }),
    singleton:
      (options.singleton ?? manifest?.singleton) === undefined
        ? undefined
        : readSingleton(options, manifest?.singleton),
    collection,
    triggerLimit:
      beside.isLimited && (options.triggerLimit ?? manifest?.triggerLimit) !== undefined
        ? readTriggerLimit(options, manifest?.triggerLimit)
        : undefined,
    tags: readTags(options.tags),
    metadata: readMetadata(options.metadata),
    maxDuration:
      options.maxDuration === undefined
        ? (manifest?.maxDuration ?? null)
        : Math.trunc(Math.max(minMaxDuration, Math.min(maxInt, options.maxDuration))),
    priorityMs,
    isTest: options.test ?? false,
    paths: paths.of(environment.id),
    parentId: options.parentRunId ?? null,
    parentFence: options.parentFence,
    rootId: null,
    depth: 0,
    traceparent: options.traceparent ?? readTraceparent(beside.traceparent),
  };
  if (collection) checkPart(run);
  return run;
}

function readPayload(
  payload: unknown,
  type = 'application/json',
): { payload: string | null; payloadType: string | null } {
  if (payload === undefined) return { payload: null, payloadType: null };
  if (type === 'application/json') return { payload: jsonOfField(payload, 'payload'), payloadType: null };
  if (
    type !== 'application/super+json' &&
    type !== 'text/plain' &&
    type !== storedType &&
    type !== sealedType
  ) {
    throw badRequest(
      `options.payloadType: "${type}" is not supported. Use application/json, application/super+json, text/plain, ${sealedType} or ${storedType}.`,
    );
  }
  if (typeof payload !== 'string') {
    throw badRequest(`payload: must be a string for payloadType ${type}.`);
  }
  if (payload.includes('\0')) {
    throw badRequest('payload: contains a NUL character, which stored text cannot contain. Send it as JSON.');
  }
  if (!payload.isWellFormed()) {
    throw badRequest(
      'payload: contains an unpaired surrogate, which stored text cannot contain. Send it as JSON.',
    );
  }
  if (type === 'application/super+json' || type === sealedType) storableLevels(payload, 'payload');
  return { payload, payloadType: type };
}

function readDelay(delay: string | Date, now: number): number {
  const read = parseDelay(delay, new Date(now));
  if (read instanceof Date) return read.getTime();
  throw badRequest(`options.delay: ${read.error}`);
}

function readTtl(ttl: string | number | undefined): number | undefined {
  if (ttl === undefined) return undefined;
  if (typeof ttl === 'number') return Math.min(maxInt, Math.trunc(ttl));
  const read = parseDuration(ttl);
  if (typeof read === 'number') return Math.min(maxInt, Math.ceil(read / 1_000));
  throw badRequest(`options.ttl: ${read.error}`);
}

function readIdempotency(
  { waitKey, ...options }: Options,
  beside: BesideBody,
  now: number,
): Pick<NewRun, 'idempotencyKey' | 'idempotencyExpiresAt'> {
  if (waitKey !== undefined) {
    return { idempotencyKey: storedWaitKey(waitKey), idempotencyExpiresAt: new Date(now + waitKeyMs) };
  }
  // An empty header counts as absent.
  const key = beside.idempotencyKey || options.idempotencyKey;
  const idempotencyExpiresAt = beside.idempotencyKeyTTL
    ? readIdempotencyExpiry(beside.idempotencyKeyTTL, 'idempotency-key-ttl', now)
    : readIdempotencyExpiry(options.idempotencyKeyTTL, 'options.idempotencyKeyTTL', now);
  if (key === undefined) return { idempotencyKey: null, idempotencyExpiresAt: null };
  // The schema has checked the length of a key in the body.
  if (key.length > maxIdempotencyKeyLength) {
    throw badRequest(`idempotency-key: must have at most ${maxIdempotencyKeyLength} characters.`);
  }
  return { idempotencyKey: storedKey(key), idempotencyExpiresAt };
}

function readIdempotencyExpiry(ttl: string | undefined, field: string, now: number): Date {
  if (ttl === undefined) return new Date(now + defaultIdempotencyMs);
  const read = parseDuration(ttl);
  if (typeof read === 'number') return new Date(Math.min(now + read, lastMoment));
  throw badRequest(`${field}: ${read.error}`);
}

const readTraceparent = (header: string | undefined): string | null =>
  header !== undefined && traceparent.safeParse(header).success ? header : null;

function readTags(tags: readonly string[] | undefined): readonly string[] {
  if (!tags) return [];
  const clean = [...new Set(tags.map((tag) => redactKeys(tag.trim())).filter((tag) => tag !== ''))];
  if (clean.length > maxTags)
    throw unprocessable(`A run has at most ${maxTags} tags; this one has ${clean.length}.`);
  return clean;
}

function readMetadata(metadata: unknown): string | null {
  if (metadata === undefined || metadata === null) return null;
  if (typeof metadata === 'string' && Buffer.byteLength(metadata) > maxMetadataBytes)
    throw metadataTooLarge();
  const read =
    typeof metadata === 'string' ? tryParse(storableLevels(metadata, 'options.metadata')) : metadata;
  if (typeof read !== 'object' || read === null || Array.isArray(read)) {
    throw badRequest('options.metadata: must be an object, or a JSON object as a string.');
  }
  if (Object.hasOwn(read, '__proto__')) {
    throw badRequest('options.metadata: the key "__proto__" is not allowed.');
  }
  const text =
    typeof metadata === 'string' && metadata.isWellFormed()
      ? metadata
      : jsonOfField(read, 'options.metadata');
  if (Buffer.byteLength(text) > maxMetadataBytes) throw metadataTooLarge();
  return text;
}

const metadataTooLarge = (): Problem =>
  new Problem('too_large', `options.metadata: must have at most ${maxMetadataBytes} bytes as JSON.`);
