/** Uploads and downloads of packets through signed URLs, as streams, so that a process never holds a whole packet for long. */
import { Readable } from 'node:stream';
import { maxPacketBytes } from '@millrace/contract';
import type { FastifyInstance } from 'fastify';
import type { Log } from '../logger.ts';
import { notFound, Problem } from '../problem.ts';
import { apiHeaders, corsHeaders, preflightHeaders } from './headers.ts';
import { sendFailure, sendJson } from './problem.ts';

/** The interface of packet storage that this route requires. Both methods throw Problems. */
export interface PacketContent {
  /** The token in the path is the only permission. */
  put(token: string, contentType: string | undefined, content: AsyncIterable<Uint8Array>): Promise<void>;
  get(token: string): Promise<ServedPacket | undefined>;
}

interface ServedPacket {
  readonly contentType: string;
  readonly bytes: number;
  readonly content: AsyncIterable<Buffer>;
}

const path = '/packets/v1/:token';

export function mountPacketContent(app: FastifyInstance, packets: PacketContent, log: Log): void {
  void app.register(async (scope) => {
    // Leaves the body as a stream.
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, body, done) => done(null, body));
    const config = { cors: true };

    scope.put<{ Params: { token: string } }>(path, { config }, async (request, reply) => {
      try {
        const length = Number(request.headers['content-length']);
        if (length > maxPacketBytes) {
          throw new Problem(
            'too_large',
            `A payload or an output has at most ${maxPacketBytes} bytes.`,
            {},
            false,
          );
        }
        const body = (request.body as Readable | undefined) ?? Readable.from([]);
        // Do not destroy the stream on an early exit: that would close the connection before the response.
        const content = body.iterator({ destroyOnReturn: false });
        await packets.put(request.params.token, request.headers['content-type'], content);
        reply.headers(corsHeaders);
        sendJson(reply, 200, '{}');
      } catch (error) {
        sendFailure(request, reply, error, log);
      }
      return reply;
    });

    scope.get<{ Params: { token: string } }>(path, { config }, async (request, reply) => {
      try {
        const packet = await packets.get(request.params.token);
        if (!packet) throw notFound('Nothing is stored under this address.');
        // Clients parse the content by its exact type.
        reply
          .headers(apiHeaders)
          .headers(corsHeaders)
          .header('content-disposition', 'attachment')
          .header('content-length', packet.bytes)
          .type(packet.contentType);
        return reply.send(Readable.from(packet.content));
      } catch (error) {
        sendFailure(request, reply, error, log);
        return reply;
      }
    });

    scope.options(path, (_, reply) => {
      reply
        .code(204)
        .header('allow', 'GET, HEAD, PUT, OPTIONS')
        .headers(preflightHeaders(['GET', 'PUT']))
        .send();
    });
  });
}
