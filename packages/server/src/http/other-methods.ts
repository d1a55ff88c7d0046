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
  for (const sharing of paths.values()) {
    const url = sharing[0]?.path ?? '';
    const allowed = methods.filter((method) =>
      sharing.some((route) => route.method === method || (route.method === 'GET' && method === 'HEAD')),
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
