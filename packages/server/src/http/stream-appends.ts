/** Single appends of the S2 protocol over HTTP/1.1: JSON, or one protocol buffer without framing. */
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { parseRequest } from '../json/foreign.ts';
import type { Log } from '../logger.ts';
import { badRequest } from '../problem.ts';

/** The interface of the S2 protocol that this route requires. */
export interface StreamAppendRoute<K, I> {
  readonly path: string;
  admit(stream: string, authorization: string | undefined): Promise<K>;
  append(key: K, input: I): Promise<unknown>;
  /** Reads a protocol buffer or JSON, which is validated. */
  read(body: Buffer | JsonAppend): I;
  binary(ack: unknown): Buffer;
  json(ack: unknown): object;
  refusal(error: unknown): {
    readonly status: number;
    readonly body: object;
    readonly headers: Readonly<Record<string, string>>;
  };
}

const jsonAppend = z.object({
  records: z.array(
    z.object({
      body: z.string().default(''),
      headers: z.array(z.tuple([z.string(), z.string()])).nullish(),
    }),
  ),
  match_seq_num: z.number().int().min(0).nullish(),
  fencing_token: z.string().nullish(),
});
export type JsonAppend = z.infer<typeof jsonAppend>;

const maxBytes = 3 * 1_048_576;

export function mountStreamAppends<K, I>(
  app: FastifyInstance,
  route: StreamAppendRoute<K, I>,
  log: Log,
): void {
  void app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
    scope.post<{ Params: { stream: string }; Body: Buffer | undefined }>(
      `${route.path}/streams/:stream/records`,
      { bodyLimit: maxBytes },
      async ({ params, headers, body, id }, reply) => {
        try {
          const key = await route.admit(params.stream, headers.authorization);
          const isBinary = (headers['content-type'] ?? '').startsWith('application/protobuf');
          const bytes = body ?? Buffer.alloc(0);
          const ack = await route.append(key, route.read(isBinary ? bytes : readJson(bytes)));
          return (headers.accept ?? '').includes('application/protobuf')
            ? reply.header('content-type', 'application/protobuf').send(route.binary(ack))
            : reply.header('content-type', 'application/json').send(JSON.stringify(route.json(ack)));
        } catch (error) {
          const { status, body: refused, headers: explained } = route.refusal(error);
          if (status === 500) log.error('request.failed', { requestId: id, route: route.path, err: error });
          return reply
            .code(status)
            .headers(explained)
            .header('content-type', 'application/json')
            .send(JSON.stringify(refused));
        }
      },
    );
  });
}

function readJson(bytes: Buffer): JsonAppend {
  const parsed = jsonAppend.safeParse(parseRequest(bytes.toString()));
  if (!parsed.success) throw badRequest('records: must be an array of { body, headers }.');
  return parsed.data;
}
