import type { FastifyReply, FastifyRequest } from 'fastify';

/** What a trace says of a request: nothing that its caller wrote, but where its trace goes on. */
export interface AnsweredRequest {
  readonly method: string;
  /** The path as it is declared. */
  readonly route: string;
  readonly status: number;
  /** When it began, in milliseconds since 1970. */
  readonly from: number;
  readonly traceparent: string | undefined;
}

export function answeredRequest(request: FastifyRequest, reply: FastifyReply): AnsweredRequest {
  const { traceparent } = request.headers;
  return {
    method: request.method,
    route: request.routeOptions.url ?? 'unknown',
    status: reply.statusCode,
    from: Date.now() - reply.elapsedTime,
    traceparent: typeof traceparent === 'string' ? traceparent : undefined,
  };
}
