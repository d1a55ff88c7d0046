import { actsForUser, environmentHeader, projectHeader, type Access } from '@millrace/contract';
import type { FastifyRequest } from 'fastify';
import type { BrowserCredentials } from '../auth/authenticate.ts';
import { readCookie } from '../auth/browser/cookie.ts';
import { isFromDashboard } from '../auth/browser/from-dashboard.ts';
import { baseUrlOf } from './base-url.ts';

/**
 * The browser session of a request without an Authorization header. Undefined unless the dashboard's page sends it; throws 403 if the browser
 * reports another page as the sender.
 */
export function browserCredentialsOf(
  request: FastifyRequest,
  access: Access,
): BrowserCredentials | undefined {
  const header = (name: string): string | undefined => {
    const value = request.headers[name];
    return typeof value === 'string' ? value : undefined;
  };
  const baseUrl = baseUrlOf(request);
  if (!isFromDashboard({ method: request.method, baseUrl, header })) return undefined;
  const session = readCookie(header('cookie'), baseUrl) ?? '';
  if (actsForUser(access)) return { session, acts: undefined };
  const branch = header('x-service-branch') ?? header('x-trigger-branch');
  const { wholeEnvironment = false, branchIsOptional = false } = access;
  return {
    session,
    acts: {
      project: header(projectHeader),
      environment: header(environmentHeader),
      branch,
      wholeEnvironment: wholeEnvironment || (branchIsOptional && branch === undefined),
    },
  };
}
