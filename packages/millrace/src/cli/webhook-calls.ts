import type { Webhook } from '@millrace/contract';
import { call } from './call.ts';
import { branchServer, type ConnectionOptions } from './connection.ts';

export async function listedWebhooks(options: ConnectionOptions): Promise<readonly Webhook[]> {
  const { login, headers } = await branchServer(options);
  return (await call(login, 'listWebhooks', { headers })).data;
}
