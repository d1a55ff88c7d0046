import { webhookBodyLimit, type Body, type Operations, type Reply } from '@millrace/contract';
import type { Environment } from '../../auth/principal.ts';
import type { Engine } from '../../runs/engine/engine.ts';
import { notFound, Problem, unprocessable } from '../../problem.ts';
import { secretMissing, type Webhooks } from './receive.ts';
import { signRequest } from './schemes/index.ts';
import { secretNames, type ReadSecrets } from './secrets.ts';
import type { Stored } from './store.ts';

interface SendDependencies {
  readonly engine: Pick<Engine, 'versions' | 'clock'>;
  readonly readSecrets: ReadSecrets;
  readonly webhooks: Pick<Webhooks, 'receive'>;
}

type Sent = Operations['sendWebhook'];

const isStored = (answer: object): answer is Stored => 'isDuplicate' in answer;

/**
 * Returns a function that sends a test request to a webhook: it is signed with the secret of the environment, then verified and stored like a
 * request of the provider.
 */
export function createSendWebhook({ engine, readSecrets, webhooks }: SendDependencies) {
  const { versions, clock } = engine;

  return async (environment: Environment, id: string, request: Body<Sent>): Promise<Reply<Sent>> => {
    const current = await versions.current(environment.id);
    const verification = current?.tasks.get(id)?.webhook?.verify;
    if (!verification) throw notFound(`The current version has no webhook "${id}".`);
    const names = secretNames(verification);
    const [secret = ''] = await readSecrets(environment.id, names);
    if (names.length > 0 && secret === '') throw secretMissing();
    const body = Buffer.from(request.body);
    if (body.length > webhookBodyLimit)
      throw new Problem('too_large', `body: must have at most ${webhookBodyLimit} bytes.`);
    const signed = signRequest(verification, secret, {
      id: request.id ?? crypto.randomUUID(),
      at: clock.now(),
      body,
    });
    const own = Object.entries(request.headers).map(([name, value]) => [name.toLowerCase(), value]);
    const headers = {
      ...(Object.fromEntries(own) as Record<string, string>),
      'content-type': request.contentType,
      ...signed,
    };
    const answer = await webhooks.receive({ id, environment, verification }, { headers, body, admit() {} });
    if (!isStored(answer))
      throw unprocessable('body: a request that verifies the address is answered, and starts no run.');
    return { id: answer.id, isDuplicate: answer.isDuplicate };
  };
}
