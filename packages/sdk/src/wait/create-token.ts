import type { StandardSchemaV1 } from '@standard-schema/spec';
import { currentClient } from '../client/current-client.ts';
import { payloadSchemaOf } from '../executor/payload-schema.ts';
import { currentRun } from '../run-scope.ts';
import { nextOf, ownKey } from './in-run.ts';
import type { CreatedToken } from './token.ts';

export interface CreateTokenOptions {
  /** When it times out: a date, or a duration such as `1h30m`. Default 10 minutes. */
  timeout?: Date | string;
  /** At most 10, each of at most 128 characters. */
  tags?: string | string[];
  /** A second token with this key returns the first one (`isCached`). At most 2,048 characters. */
  idempotencyKey?: string;
  /** How long the key is remembered, such as `1h` or `30d`. Default 30 days. */
  idempotencyKeyTTL?: string;
  /**
   * The schema of the value. The dashboard builds its form from it; values are not checked. A schema of a library that supports Standard JSON
   * Schema, such as zod since 4.2, or a JSON Schema. With the other options at most 10 kB.
   */
  schema?: StandardSchemaV1 | Readonly<Record<string, unknown>>;
}

/**
 * Creates a token. A run waits for it with `wait.forToken`. Any holder of the token completes it: with `wait.completeToken`, over HTTP, or
 * by a POST to its `url`. In a run, code that is executed again gets the token that it created before.
 *
 * @example
 * const token = await wait.createToken({ timeout: '2d', tags: [`order:${order.id}`] });
 * await askForApproval(order, token.url);
 * const approval = await wait.forToken<{ approved: boolean }>(token).unwrap();
 */
export async function createToken({ schema, ...others }: CreateTokenOptions = {}): Promise<CreatedToken> {
  const options = { ...others, ...(schema !== undefined && { schema: jsonSchemaOf(schema) }) };
  const client = currentClient();
  const scope = currentRun();
  const own =
    scope?.waits &&
    scope.step === undefined &&
    client.settings.isAmbient &&
    options.idempotencyKey === undefined;
  const body = own
    ? { ...options, waitKey: ownKey(scope, `token/${nextOf(scope.waits, 'token')}`) }
    : options;
  const { reply, header } = await client.callWithHeaders('createWaitpointToken', { body });
  return { ...reply, publicAccessToken: header('x-trigger-jwt') };
}

function jsonSchemaOf(schema: NonNullable<CreateTokenOptions['schema']>): Readonly<Record<string, unknown>> {
  if (!('~standard' in schema)) return schema;
  const { payloadSchema, payloadSchemaNote } = payloadSchemaOf(schema as StandardSchemaV1);
  if (payloadSchema) return payloadSchema;
  throw new TypeError(`schema: ${payloadSchemaNote}. Pass a JSON Schema instead.`);
}
