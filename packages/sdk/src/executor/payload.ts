import type { Assignment } from '@millrace/contract/runner';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { ApiClient } from '../client/api-client.ts';
import { resolveStored, storedType } from '../packets/packets.ts';
import { decode } from '../payload/decode.ts';
import { processCodec, SealedError } from '../sealing/codec.ts';
import { isSealed, open, type Envelope } from '../sealing/envelope.ts';
import { openText } from '../sealing/values.ts';
import type { TaskDefinition } from '../task/definition.ts';

/** An invalid payload. A retry would also fail. */
export class PayloadError extends Error {
  override readonly name: string;

  constructor(name: 'PayloadParseError' | 'PayloadValidationError' | 'SealedError', message: string) {
    super(message);
    this.name = name;
  }
}

function pathText(path: StandardSchemaV1.Issue['path']): string {
  let text = '';
  for (const segment of path ?? []) {
    const key = typeof segment === 'object' ? segment.key : segment;
    if (typeof key === 'number') text += `[${key}]`;
    else text += text === '' ? String(key) : `.${String(key)}`;
  }
  return text;
}

const issueText = ({ path, message }: StandardSchemaV1.Issue): string => {
  const where = pathText(path);
  return where === '' ? message : `${where}: ${message}`;
};

/**
 * A payload that cannot be decrypted is as invalid as one that cannot be parsed. Other errors, such as a key that cannot be fetched, are
 * retried.
 */
function asPayloadError(error: unknown): never {
  throw error instanceof SealedError ? new PayloadError('SealedError', error.message) : error;
}

/** One of several payloads. */
async function openPart(envelope: Envelope, id: string): Promise<unknown> {
  const { text, type } = await open(processCodec(), envelope, `payload ${id}`).catch(asPayloadError);
  return decode(text, type);
}

/** The payload for `run`: parsed by its type, then by the task's schema. Throws a PayloadError. */
export async function payloadOf(definition: TaskDefinition, assignment: Assignment): Promise<unknown> {
  const { id, schema, batch } = definition;
  let payload: unknown;
  let { payload: text, payloadType } = assignment;
  if (text !== null && payloadType === storedType) {
    // Uses the environment's own credential, regardless of the configuration in the task's code. A failure here is retried.
    const stored = await resolveStored(() => new ApiClient(), { text, type: payloadType });
    ({ text, type: payloadType } = stored);
  }
  if (text !== null) {
    const opened = openText(processCodec, { text, type: payloadType }, `payload ${id}`);
    if (opened instanceof Promise) ({ text, type: payloadType } = await opened.catch(asPayloadError));
  }
  try {
    payload = decode(text, payloadType);
  } catch (error) {
    throw new PayloadError(
      'PayloadParseError',
      `The payload is not ${payloadType}: ${(error as Error).message}`,
    );
  }
  if (!batch) return checked(id, schema, payload);
  // A run that was triggered before its task declared batching has a single payload.
  const collected: unknown[] = Array.isArray(payload) ? payload : [payload];
  // Each was sealed separately, before the server combined them.
  const payloads = collected.some(isSealed)
    ? await Promise.all(collected.map((part) => (isSealed(part) ? openPart(part, id) : part)))
    : collected;
  return Promise.all(payloads.map((item, index) => checked(id, schema, item, [index])));
}

async function checked(
  id: string,
  schema: StandardSchemaV1 | undefined,
  payload: unknown,
  at: readonly PropertyKey[] = [],
): Promise<unknown> {
  if (!schema) return payload;
  const result = await schema['~standard'].validate(payload);
  if (!result.issues) return result.value;
  const issues = result.issues
    .slice(0, 20)
    .map(({ message, path = [] }) => issueText({ message, path: [...at, ...path] }));
  if (result.issues.length > issues.length) issues.push(`and ${result.issues.length - issues.length} more`);
  throw new PayloadError(
    'PayloadValidationError',
    `The payload does not fit the schema of task ${id}: ${issues.join('; ')}`,
  );
}
