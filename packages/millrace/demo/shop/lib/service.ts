import { trace } from '@millrace/sdk';

/** The services that the shop depends on. The address of each is a variable of the environment, such as ERP_URL. */
export type Service = 'payments' | 'erp' | 'carrier' | 'mail' | 'search' | 'images' | 'rates';

/** A service returned an error. */
export class ServiceError extends Error {
  override readonly name: string = 'ServiceError';
  readonly status: number;
  readonly code: string;

  constructor(service: Service, status: number, code: string, message: string) {
    super(`${service} answered ${status} ${code}: ${message}`);
    this.status = status;
    this.code = code;
  }
}

export interface CallOptions {
  readonly method?: 'GET' | 'POST' | 'PUT';
  readonly body?: unknown;
  readonly timeoutInMs?: number;
}

/** Calls a service and shows the call in the timeline of the run. */
export async function call<T>(
  service: Service,
  path: string,
  { body, method = body === undefined ? 'GET' : 'POST', timeoutInMs = 1_000 }: CallOptions = {},
): Promise<T> {
  const variable = `${service.toUpperCase()}_URL`;
  const base = process.env[variable];
  if (base === undefined) throw new Error(`${variable} is not set`);
  return trace(`${method} ${service}`, async (span) => {
    span.setAttribute('http.route', path.replace(/\?.*$/, ''));
    const response = await fetch(`${base}${path}`, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
      headers: { 'content-type': 'application/json' },
      signal: AbortSignal.timeout(timeoutInMs),
    });
    span.setAttribute('http.response.status_code', response.status);
    const reply = JSON.parse(await response.text()) as T & { code?: string; message?: string };
    if (!response.ok)
      throw new ServiceError(service, response.status, reply.code ?? 'unknown', reply.message ?? '');
    return reply;
  });
}
