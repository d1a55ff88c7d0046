import type { FastifyReply, FastifyRequest } from 'fastify';

/** The trace data of a request. `traceparent` is the only value from the caller. */
export interface TracedRequest {
  readonly method: string;
  /** The path pattern, such as `/api/v3/runs/:runId`. */
  readonly route: string;
  readonly status: number;
  /** Start time in milliseconds since 1970. */
  readonly from: number;
  readonly traceparent: string | undefined;
}

export function tracedRequest(request: FastifyRequest, reply: FastifyReply): TracedRequest {
  const { traceparent } = request.headers;
  return {
    method: request.method,
    route: request.routeOptions.url ?? 'unknown',
    status: reply.statusCode,
    from: Date.now() - reply.elapsedTime,
    traceparent: typeof traceparent === 'string' ? traceparent : undefined,
  };
}
