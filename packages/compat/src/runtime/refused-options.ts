import { noRunLimits } from '../support/trigger-options.ts';

const triggered = /^\/api\/v[1-3]\/tasks\/[^/]+\/trigger$/;

/**
 * The response to a trigger with an option that the server would ignore. Options that are visible in the code are rejected when the project is
 * loaded. Undefined for other requests.
 */
export function refusedOptions(path: string, body = ''): Response | undefined {
  if (!triggered.test(path) || !body.includes('"concurrency":')) return undefined;
  const { options } = JSON.parse(body) as { readonly options?: { readonly concurrency?: unknown } };
  if (options?.concurrency === undefined) return undefined;
  return Response.json(
    { error: `option concurrency of trigger: not supported by Millrace: ${noRunLimits}` },
    { status: 422 },
  );
}
