import { appendBodyLimit, type Operations, type OperationsOf } from '@millrace/contract';
import type { Channels } from '../channels/channels.ts';
import type { NewRecord } from '../channels/record.ts';
import { runStream } from '../channels/key.ts';
import type { Clock } from '../db/clock.ts';
import type { Sql } from '../db/connect.ts';
import type { VariableCache } from '../envvars/variable-cache.ts';
import { inTurns } from '../json/parts.ts';
import { mapInTurns } from '../json/turns.ts';
import { notFound, Problem } from '../problem.ts';
import { isFromSdkBefore41, type HandlersOf, type Request } from '../request.ts';
import type { RunChanges } from '../runs/engine/changes.ts';
import { authorizeRelative, findRun, findRunToWrite } from '../runs/access/authorize.ts';
import type { WriterHeaders } from '../channels/s2/append.ts';
import { readPartId, recordOfText } from '../sessions/append.ts';
import { followChannel } from '../sessions/follow.ts';
import type { EventStreams } from '../channels/sse/event-streams.ts';
import { openStreams } from './open-stream.ts';

type Writing =
  | Request<Operations['initializeRunStream']>
  | Request<Operations['appendToRunStream']>
  | Request<Operations['writeRunStream']>;

export interface StreamDependencies {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly changes: RunChanges;
  readonly channels: Channels;
  readonly streams: EventStreams;
  readonly writerHeaders: WriterHeaders;
  readonly redactor: VariableCache['redactor'];
}

export function streamHandlers(dependencies: StreamDependencies): HandlersOf<OperationsOf<'streams'>> {
  const { sql, channels, writerHeaders, redactor } = dependencies;
  const opened = openStreams(dependencies);

  const channelOf = async (request: Writing) => {
    const { target, stream } = request.params;
    const { id } = await findRunToWrite(sql, request, notFound('Run not found', false, 'run_not_found'));
    if (target !== 'self') await authorizeRelative(sql, request, id, target);
    return opened.open(request.environment.id, id, target, stream);
  };

  /** Redacts the secrets of the environment in each record. A secret that is split between two records is not found. */
  const withoutSecrets = async (env: number, records: readonly NewRecord[]) => {
    const found = await redactor(env);
    return mapInTurns(records, async (record) => ({
      ...record,
      body: await inTurns(found.parts(record.body, true)),
    }));
  };

  return {
    async initializeRunStream(request) {
      const key = await channelOf(request);
      for (const [name, value] of Object.entries(await writerHeaders(request, key))) {
        request.setHeader(name, value);
      }
      return { version: 'v2' };
    },

    async appendToRunStream(request) {
      const key = await channelOf(request);
      const partId = readPartId(request.header('x-part-id'));
      const records = await withoutSecrets(key.env, [recordOfText(request.body, partId)]);
      const { start } = await channels.append(key, records, { partId });
      return { ok: true, seq: start };
    },

    async writeRunStream(request) {
      const { records } = request.body;
      const bytes = records.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
      if (bytes > appendBodyLimit) {
        throw new Problem(
          'too_large',
          `records: bodies may total at most ${appendBodyLimit} bytes. Send fewer records.`,
        );
      }
      const key = await channelOf(request);
      const partId = readPartId(request.header('x-part-id'));
      const { start, end } = await channels.append(key, await withoutSecrets(key.env, records), { partId });
      return { start, end };
    },

    async followRunStream(request) {
      // 404 with a hint to retry: the run may have just been triggered through another server.
      const { id } = await findRun(sql, request, notFound('Run not found', true, 'run_not_found'));
      const key = runStream(request.environment.id, id, request.params.stream);
      const tail = startsLatest(request) ? ((await channels.tail(key))?.tail ?? 0) : 0;
      const asking = {
        header: (name: string) =>
          name === 'last-event-id' && tail > 0 ? String(tail - 1) : request.header(name),
        setHeader: (name: string, value: string) => request.setHeader(name, value),
      };
      return followChannel(
        dependencies,
        asking,
        key,
        key.id,
        'out',
        wantsChunks(request) ? 'chunks' : undefined,
      );
    },
  };
}

/** The published SDK before 4.1 expects an event per chunk, and requests no framing. */
const wantsChunks = (request: Pick<Request<never>, 'header'>): boolean =>
  request.header('x-stream-version') === undefined && isFromSdkBefore41(request);

/** Whether a new subscriber requests only new records. */
const startsLatest = (request: Pick<Request<never>, 'header'>): boolean =>
  request.header('x-trigger-stream-start') === 'latest' && request.header('last-event-id') === undefined;
