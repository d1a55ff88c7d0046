import type { OperationDeclaration, Operations, OperationsOf } from '@millrace/contract';
import { appendBodyLimit } from '@millrace/contract';
import type { ChannelKey, Io } from '../channels/key.ts';
import { Problem } from '../problem.ts';
import type { HandlersOf, Request } from '../request.ts';
import { appendToSession, readPartId, recordOfText } from './append.ts';
import { drainChannel } from './drain.ts';
import { followChannel, type FollowDependencies } from './follow.ts';
import { receiveMessages, withoutKeys, type ReceiveDependencies } from './receive.ts';

/** The headers that describe where and how a client writes a channel's records directly. */
export type WriterHeaders = (
  request: Pick<Request<OperationDeclaration>, 'baseUrl' | 'environment' | 'principal'>,
  key: ChannelKey,
) => Promise<Readonly<Record<string, string>>>;

export interface ChannelHandlerDependencies extends ReceiveDependencies, FollowDependencies {
  /** Undefined: records can only be written by append. */
  readonly writerHeaders?: WriterHeaders | undefined;
}

/** A request of any of these operations. */
type ChannelRequest<D extends OperationDeclaration> = Pick<
  Request<OperationDeclaration>,
  'header' | 'setHeader' | 'environment' | 'principal' | 'authorize' | 'baseUrl'
> & {
  readonly params: { readonly session: string };
  readonly body: Request<D>['body'];
  readonly query: Request<D>['query'];
};

export function channelHandlers(
  dependencies: ChannelHandlerDependencies,
): HandlersOf<OperationsOf<'channels'>> {
  const { channels, sessions, writerHeaders } = dependencies;

  const append =
    (io: Io) => async (request: ChannelRequest<Operations['appendToSessionIn']>, side?: string) => {
      const channel = await sessions.toWrite(request, request.params.session, io, side);
      const target = { ...channel, isSide: side !== undefined };
      const partId = readPartId(request.header('x-part-id'));
      const records = [recordOfText(request.body, partId)];
      const appended =
        io === 'in'
          ? await receiveMessages(dependencies, request.environment, target, records, { partId })
          : await appendToSession(dependencies, target, records.map(withoutKeys), { partId });
      return { ok: true as const, seq: appended.start };
    };

  const write = async (request: ChannelRequest<Operations['writeSessionOut']>, side?: string) => {
    const target = await sessions.toWrite(request, request.params.session, 'out', side);
    const { records, matchSeqNum, fencingToken } = request.body;
    const bytes = records.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
    if (bytes > appendBodyLimit) {
      throw new Problem(
        'too_large',
        `records: bodies may total at most ${appendBodyLimit} bytes. Send fewer records.`,
      );
    }
    const partId = readPartId(request.header('x-part-id'));
    const options = { partId, matchSeqNum, fencingToken };
    const { start, end, tail } = await appendToSession(
      dependencies,
      { ...target, isSide: side !== undefined },
      records.map(withoutKeys),
      options,
    );
    return { start, end, tail };
  };

  const follow =
    (io: Io) => async (request: ChannelRequest<Operations['subscribeToSessionOut']>, side?: string) => {
      const { key } = await sessions.toRead(request, request.params.session, io, side);
      return followChannel(dependencies, request, key, key.id, io);
    };

  const readTail = (io: Io) => async (request: ChannelRequest<Operations['lookAtSessionOut']>) => {
    const { key } = await sessions.toRead(request, request.params.session, io);
    const end = await channels.tail(key);
    request.setHeader('x-last-chunk-index', String((end?.tail ?? 0) - 1));
    return null;
  };

  const drain = (io: Io) => async (request: ChannelRequest<Operations['listSessionOutRecords']>) => {
    const { key } = await sessions.toRead(request, request.params.session, io);
    const { afterEventId } = request.query;
    return drainChannel(channels, key, afterEventId === undefined ? 0 : afterEventId + 1);
  };

  const initialize = (io: Io) => async (request: ChannelRequest<Operations['initializeSessionOut']>) => {
    const { key } = await sessions.toRead(request, request.params.session, io);
    if (!writerHeaders)
      throw new Problem('not_supported', 'This server accepts records only by append.', {}, false);
    for (const [name, value] of Object.entries(await writerHeaders(request, key)))
      request.setHeader(name, value);
    return { version: 'v2' };
  };

  return {
    appendToSessionIn: append('in'),
    appendToSessionOut: append('out'),
    appendToSideIn: (request) => append('in')(request, request.params.channel),
    appendToSideOut: (request) => append('out')(request, request.params.channel),
    writeSessionOut: write,
    writeSideOut: (request) => write(request, request.params.channel),
    initializeSessionIn: initialize('in'),
    initializeSessionOut: initialize('out'),
    lookAtSessionIn: readTail('in'),
    lookAtSessionOut: readTail('out'),
    subscribeToSessionIn: follow('in'),
    subscribeToSessionOut: follow('out'),
    subscribeToSideIn: (request) => follow('in')(request, request.params.channel),
    subscribeToSideOut: (request) => follow('out')(request, request.params.channel),
    listSessionInRecords: drain('in'),
    listSessionOutRecords: drain('out'),
  };
}
