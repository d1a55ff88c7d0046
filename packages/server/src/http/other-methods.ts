import type { Method } from '@millrace/contract';
import type { FastifyInstance } from 'fastify';
import { preflightHeaders } from './headers.ts';
import { sendJson } from './problem.ts';

interface MountedRoute {
  readonly method: Method;
  readonly path: string;
  readonly cors: boolean;
}

const methods: readonly Method[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Every path answers 405 with `Allow` to what it does not do, and preflight requests where browsers may call it. */
export function mountOtherMethods(app: FastifyInstance, routes: readonly MountedRoute[]): void {
  // Two operations on one path may name its parameters differently.
  const paths = new Map<string, MountedRoute[]>();
  for (const route of routes) {
    const shape = route.path.replace(/:\w+/g, ':');
    paths.set(shape, [...(paths.get(shape) ?? []), route]);
  }
  for (const [shape, sharing] of paths) {
    const url = sharing[0]?.path ?? '';
    // A name may be the same as a fixed part of another path: what that one does not do, the one with the name does.
    const wider = [...paths].flatMap(([other, those]) => (isWider(other, shape) ? those : []));
    const allowed = methods.filter((method) =>
      [...sharing, ...wider].some(
        (route) => route.method === method || (route.method === 'GET' && method === 'HEAD'),
      ),
    );
    const allow = [...allowed, 'OPTIONS'].join(', ');
    const open = sharing.filter((route) => route.cors).map((route) => route.method);
    const preflight = open.length > 0 ? preflightHeaders(open) : undefined;
    app.route({
      method: methods.filter((method) => !allowed.includes(method)),
      url,
      handler: (_, reply) => {
        sendJson(reply.header('allow', allow), 405, '{"error":"Method not allowed"}');
      },
    });
    app.route({
      method: 'OPTIONS',
      url,
      handler: (_, reply) => {
        reply.statusCode = 204;
        reply.header('allow', allow);
        if (preflight) reply.headers(preflight);
        reply.send();
      },
    });
  }
}

/** Whether the first shape takes every path that the second one takes, and others. */
function isWider(one: string, other: string): boolean {
  const [wide, narrow] = [one.split('/'), other.split('/')];
  return (
    one !== other &&
    wide.length === narrow.length &&
    wide.every((part, index) => part === ':' || part === narrow[index])
  );
}
