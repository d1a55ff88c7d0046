import { parseForeignJson, ForeignJsonError } from '@millrace/contract/foreign-json';
import { finalStatuses } from '@millrace/contract/plain';
import {
  machinePresets,
  type AttemptWaits,
  type EndedSpan,
  type LogLine,
  type SerializedError,
  type Settlement,
  type SpanChunk,
  type SpanEvent,
  type Wait,
} from '@millrace/contract/runner';
import type { Problem } from '@millrace/diagnostics';
import { z } from 'zod';
import type { FromExecutor, IndexedTask } from './messages.ts';

/** Maximum line length in bytes. The longest line that Millrace writes contains an output of 10 MiB in which every byte is escaped. */
export const maxLineBytes = 24 * 1024 * 1024;
/** Maximum nesting depth of a line. The deepest ones are JSON Schemas of payloads in the reply to `index`. */
const maxDepth = 200;
const maxMembers = 1_000_000;

/** The members of a type. An object with a missing or additional member does not compile. */
type Shape<T> = Record<keyof T, z.ZodType>;

const count = z.number().int().min(0);
const id = z.string().min(1).max(256);
const text = z.string().max(1_048_576);
const flag = z.boolean();

const causeShape = {
  type: z.enum(['BUILT_IN_ERROR', 'CUSTOM_ERROR', 'STRING_ERROR', 'INTERNAL_ERROR']),
  name: z.string().max(1_024),
  message: text,
  stackTrace: text,
  code: z.string().max(1_024).optional(),
  fingerprint: z.string().max(1_024).optional(),
  isMember: z.literal(true).optional(),
  isFinal: z.literal(true).optional(),
  sealed: text.optional(),
  get causes() {
    return z.array(error).max(100).optional();
  },
} satisfies Shape<SerializedError>;
const error: z.ZodType = z.object(causeShape);

const outcome = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('completed'),
    output: z.string().max(maxLineBytes).nullable(),
    outputType: z.string().max(256),
  }),
  z.object({ kind: z.literal('failed'), status: z.enum(finalStatuses), error }),
  z.object({
    kind: z.literal('retry'),
    delayMs: z.number().min(0),
    error,
    machine: z.enum(machinePresets).optional(),
  }),
  z.object({ kind: z.literal('canceled') }),
  z.object({ kind: z.literal('unknownTask') }),
]);
const settlement = z.object({
  run: id,
  fence: count,
  outcome,
  revision: count.optional(),
  consumed: z.record(z.string().max(1_024), z.number().int().min(-1)).optional(),
} satisfies Shape<Settlement>);

const line = z.object({
  run: id,
  attempt: count,
  at: z.number(),
  level: z.enum(['debug', 'info', 'log', 'warn', 'error']),
  message: text,
  properties: text.optional(),
} satisfies Shape<LogLine>);

const attributes = z.record(
  z.string().max(1_024),
  z.union([text, z.number(), flag, z.array(z.union([text, z.number(), flag, z.null()]))]),
);
const spanEvent = z.object({
  name: z.string().max(1_024),
  at: z.number(),
  attributes: attributes.optional(),
} satisfies Shape<SpanEvent>);
const span = z.object({
  id,
  parent: id.optional(),
  trace: id.optional(),
  name: z.string().max(1_024),
  kind: z.enum(['internal', 'server', 'client', 'producer', 'consumer']).optional(),
  at: z.number(),
  took: z.number(),
  status: z.enum(['ok', 'error']).optional(),
  message: text.optional(),
  attributes: attributes.optional(),
  events: z.array(spanEvent).optional(),
  scope: z.string().max(1_024).optional(),
  omitted: count.optional(),
} satisfies Shape<EndedSpan>);
const spans = z.object({
  run: id,
  attempt: count,
  trace: id,
  spans: z.array(span),
  dropped: count.optional(),
  sampled: flag.optional(),
} satisfies Shape<SpanChunk>);

const wait = z.object({
  key: z.string().max(1_024),
  kind: z.enum(['RUN', 'BATCH', 'TOKEN', 'TIME', 'MESSAGE']),
  target: z.string().max(4_096).optional(),
  beyond: z.number().optional(),
  until: z.number().optional(),
  inMs: z.number().optional(),
} satisfies Shape<Wait>);
const waits = z.object({
  run: id,
  fence: count,
  waits: z.array(wait),
} satisfies Shape<AttemptWaits>);

const problem = z.object({
  file: z.string(),
  line: z.number().nullable(),
  column: z.number().nullable(),
  message: z.string(),
} satisfies Shape<Problem>);
const indexedTask = z.object({
  source: z.string(),
  // The server validates it when the version is registered.
  manifest: z.looseObject({ id: z.string(), filePath: z.string() }),
} satisfies Shape<IndexedTask>);

const message = z.discriminatedUnion('type', [
  z.object({ type: z.literal('importing'), source: z.string() }),
  z.object({ type: z.literal('problem'), source: z.string(), torn: flag, problem }),
  z.object({
    type: z.literal('indexed'),
    tasks: z.array(indexedTask),
    problems: z.array(problem),
    hookFiles: z.array(z.string()),
  }),
  z.object({ type: z.literal('ready') }),
  z.object({
    type: z.literal('progress'),
    settlements: z.array(settlement),
    lines: z.array(line),
    spans: z.array(spans).optional(),
  }),
  z.object({ type: z.literal('credential'), fence: count }),
  z.object({ type: z.literal('waits'), attempts: z.array(waits) }),
  z.object({ type: z.literal('uncaught'), settlement: settlement.nullable(), torn: flag, error }),
  z.object({ type: z.literal('exiting'), fence: count.nullable(), error }),
  z.object({ type: z.literal('pong'), isComplete: flag }),
]);

/**
 * The reasons for ending a process whose line is not a message of Millrace. The messages are constant, so that such failures form one error
 * group.
 */
export const pipeFaults = {
  foreign:
    'The code of the process wrote to file descriptor 3, over which Millrace controls it. Write to 1 or 2, or open a file',
  tooLong: `The process sent its runner a line of more than ${maxLineBytes / 1_048_576} MiB`,
  tooMuch: `The process sent its runner a message of more than ${maxDepth} levels or ${maxMembers} values`,
  closed:
    'The code of the process closed file descriptor 3, over which Millrace controls it. Close only descriptors that the code has opened',
  consumed:
    'The code of the process read from file descriptor 3, over which Millrace controls it. Read only from descriptors that the code has opened',
  unheld: 'The process sent its runner a message about a run that it does not execute',
} as const;

/**
 * Parses a line of an executor process, which its tasks can also write. A line of Millrace begins with the token of the process. Returns the
 * reason if the line is not a message.
 */
export function readMessage(bytes: Buffer, token: Buffer): FromExecutor | string {
  if (!bytes.subarray(0, token.length).equals(token)) return pipeFaults.foreign;
  let value: unknown;
  try {
    value = parseForeignJson(bytes.subarray(token.length), { maxDepth, maxMembers });
  } catch (thrown) {
    if (!(thrown instanceof ForeignJsonError)) throw thrown;
    return thrown.reason === 'syntax' ? pipeFaults.foreign : pipeFaults.tooMuch;
  }
  const read = message.safeParse(value);
  if (read.success) return read.data as FromExecutor;
  const path = (read.error.issues[0]?.path ?? []).filter((part) => typeof part === 'string').join('.');
  return `The process sent its runner an invalid message: ${path === '' ? 'its type is unknown' : `"${path}" is not valid`}`;
}
