/**
 * Downloads of deployment files, as streams, so that a process never holds a whole file. An interrupted download continues where it
 * stopped.
 */
import { Readable } from 'node:stream';
import { blobParams, operations } from '@millrace/contract';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Authenticate } from '../auth/authenticate.ts';
import { isUser, type Environment, type Principal, type UserPrincipal } from '../auth/principal.ts';
import type { AccessWatcher } from '../auth/watch-access.ts';
import type { Log } from '../logger.ts';
import { forbidden, Problem, unauthorized } from '../problem.ts';
import { admit, covers } from './authorize.ts';
import type { BadCredentialLimit } from './bad-credentials.ts';
import { apiHeaders } from './headers.ts';
import { sendFailure } from './problem.ts';
import { readPart } from './validate.ts';

/** The interface of deployment storage that this route requires. */
export interface BlobContent {
  /** Throws a 404 Problem for a blob that the version does not have. */
  get(
    environment: Environment,
    version: string,
    blob: string,
  ): Promise<{ readonly size: number; read(start: number): Promise<AsyncIterable<Buffer>> }>;
}

export interface BlobRouteOptions {
  readonly blobs: BlobContent;
  readonly authenticate: Authenticate;
  readonly access: Pick<AccessWatcher, 'watch'>;
  readonly badCredentials: BadCredentialLimit;
  readonly log: Log;
}

const path = '/runner/v1/versions/:version/blobs/:blob';
/** Permission to read a bundle includes its blobs. */
const { access: rule } = operations.retrieveBundle;

export function mountBlobContent(app: FastifyInstance, options: BlobRouteOptions): void {
  app.get<{ Params: Record<string, string> }>(path, { exposeHeadRoute: false }, async (request, reply) => {
    try {
      const principal = await callerOf(request, reply, options);
      const { version, blob } = readPart(blobParams, request.params, 'Params Error') as {
        version: string;
        blob: string;
      };
      const { size, read } = await options.blobs.get(principal.environment, version, blob);
      const start = startOf(request.headers.range, size);
      const parts = await read(start ?? 0);
      reply
        .headers(apiHeaders)
        .header('accept-ranges', 'bytes')
        .header('content-length', size - (start ?? 0))
        .type('application/octet-stream');
      if (start !== undefined) reply.code(206).header('content-range', `bytes ${start}-${size - 1}/${size}`);
      return await reply.send(Readable.from(whileAllowed(parts, principal, options.access)));
    } catch (error) {
      sendFailure(request, reply, error, options.log);
      return reply;
    }
  });
}

type KeyPrincipal = Exclude<Principal, UserPrincipal>;

async function callerOf(
  request: FastifyRequest,
  reply: FastifyReply,
  { authenticate, badCredentials }: BlobRouteOptions,
): Promise<KeyPrincipal> {
  const { headers } = request;
  let principal: Principal;
  try {
    principal = await authenticate({
      authorization: headers.authorization,
      serviceBranch: headers['x-service-branch'] as string | undefined,
      triggerBranch: headers['x-trigger-branch'] as string | undefined,
      wholeEnvironment: false,
    });
  } catch (error) {
    throw badCredentials(error, request.ip, (name, value) => void reply.header(name, value));
  }
  admit(principal, rule, 'GET');
  if (isUser(principal) || !covers(principal, rule, {})) throw forbidden();
  return principal;
}

/** Undefined for the whole blob. Only `bytes=N-` is served; for other ranges the whole blob is sent, as the standard allows. */
function startOf(range: string | undefined, size: number): number | undefined {
  const [, digits] = /^bytes=(\d{1,15})-$/.exec(range ?? '') ?? [];
  if (digits === undefined) return undefined;
  const start = Number(digits);
  if (start >= size)
    throw new Problem(
      'range_not_satisfiable',
      `range: starts at byte ${start}, but the blob has only ${size} bytes.`,
    );
  return start;
}

/** A download may take minutes, so it ends when the caller's credential does. */
async function* whileAllowed(
  parts: AsyncIterable<Buffer>,
  principal: Principal,
  live: Pick<AccessWatcher, 'watch'>,
): AsyncGenerator<Buffer> {
  let ended = false;
  const release = live.watch(principal, () => (ended = true));
  try {
    for await (const part of parts) {
      if (ended) throw unauthorized('The credential of this request has ended');
      yield part;
    }
  } finally {
    release();
  }
}
