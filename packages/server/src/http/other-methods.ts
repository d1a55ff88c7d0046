import type { Method } from '@millrace/contract';
import type { FastifyInstance } from 'fastify';
import { preflightHeaders } from './headers.ts';
import { sendError } from './problem.ts';

interface MountedRoute {
  readonly method: Method;
  readonly path: string;
  readonly cors: boolean;
}

const methods: readonly Method[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** Answers 405 with `Allow` to unsupported methods of every path, and OPTIONS, with CORS preflight headers where browsers may call. */
export function mountOtherMethods(app: FastifyInstance, routes: readonly MountedRoute[]): void {
  // Two operations may name the parameters of one path differently.
  const paths = new Map<string, MountedRoute[]>();
  for (const route of routes) {
    const shape = route.path.replace(/:\w+/g, ':');
    paths.set(shape, [...(paths.get(shape) ?? []), route]);
  }
  // Split once: every path is compared with every other one.
  const shapes = [...paths].map(([shape, sharing]) => ({ segments: shape.split('/'), sharing }));
  for (const { segments, sharing } of shapes) {
    const url = sharing[0]?.path ?? '';
    // A parameter may match a fixed segment of another path. Methods that the fixed path does not have are served by the wider one.
    const wider = shapes.flatMap((other) =>
      other.sharing !== sharing && isWider(other.segments, segments) ? other.sharing : [],
    );
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
        sendError(reply.header('allow', allow), 405, 'Method not allowed');
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

/** Whether the first of two different shapes matches every path that the second one matches, and others. */
const isWider = (wide: readonly string[], narrow: readonly string[]): boolean =>
  wide.length === narrow.length && wide.every((part, index) => part === ':' || part === narrow[index]);
