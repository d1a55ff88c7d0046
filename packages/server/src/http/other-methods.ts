import type { Method } from '@millrace/contract';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { preflightHeaders } from './headers.ts';
import { sendError } from './problem.ts';

interface MountedRoute {
  readonly method: Method;
  /** Such as `/api/v1/runs/:runId`. */
  readonly path: string;
  readonly cors: boolean;
  /** Whether its GET has no HEAD. */
  readonly streams?: boolean | undefined;
}

const methods: readonly Method[] = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'];

/**
 * Replies to requests that no route matches, if another method has their path: 405 with `Allow`. OPTIONS gets 204, with CORS preflight
 * headers where browsers may call. Returns whether it has replied. Registering routes for these would double the router's work at each
 * start.
 */
export function replyToOtherMethods(
  routes: readonly MountedRoute[],
): (request: FastifyRequest, reply: FastifyReply) => boolean {
  const known = routes.map((route) => ({ ...route, segments: route.path.split('/') }));
  return (request, reply) => {
    const segments = (request.url.split('?')[0] ?? '').split('/');
    // A parameter in one path may match a fixed segment of another; the methods of both are served.
    const matching = known.filter((route) => matches(route.segments, segments));
    if (matching.length === 0) return false;
    const served = methods.filter((method) =>
      matching.some(
        (route) => route.method === method || (method === 'HEAD' && route.method === 'GET' && !route.streams),
      ),
    );
    reply.header('allow', [...served, 'OPTIONS'].join(', '));
    if (request.method !== 'OPTIONS') {
      sendError(reply, 'method_not_allowed', 'Method not allowed');
      return true;
    }
    const open = matching.filter((route) => route.cors).map((route) => route.method);
    if (open.length > 0) reply.headers(preflightHeaders(open));
    reply.code(204).send();
    return true;
  };
}

const matches = (pattern: readonly string[], segments: readonly string[]): boolean =>
  pattern.length === segments.length &&
  pattern.every((part, index) => (part.startsWith(':') ? segments[index] !== '' : part === segments[index]));
