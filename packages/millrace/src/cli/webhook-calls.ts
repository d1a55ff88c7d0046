import type { Webhook } from '@millrace/contract';
import { call } from './call.ts';
import { findServer, type ConnectionOptions } from './connection.ts';

/** The server, and the headers that select a branch. */
export async function branchServer(options: ConnectionOptions) {
  const { url, key } = await findServer(options);
  const headers: Record<string, string> =
    options.branch === undefined ? {} : { 'x-service-branch': options.branch };
  return { login: { url, token: key }, headers };
}

export async function listedWebhooks(options: ConnectionOptions): Promise<readonly Webhook[]> {
  const { login, headers } = await branchServer(options);
  return (await call(login, 'listWebhooks', { headers })).data;
}
