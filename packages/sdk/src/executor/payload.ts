import type { Assignment } from '@millrace/contract/runner';
import type { StandardSchemaV1 } from '@standard-schema/spec';
import { ApiClient } from '../client/api-client.ts';
import { resolveStored, storedType } from '../packets/packets.ts';
import { decode } from '../payload/decode.ts';
import type { TaskDefinition } from '../task/definition.ts';

/** An invalid payload. A retry would fail too. */
export class PayloadError extends Error {
  override readonly name: string;

  constructor(name: 'PayloadParseError' | 'PayloadValidationError', message: string) {
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

/** The payload as `run` gets it: read by its type, then through the task's schema. Throws a PayloadError. */
export async function payloadOf({ id, schema }: TaskDefinition, assignment: Assignment): Promise<unknown> {
  let payload: unknown;
  let { payload: text, payloadType } = assignment;
  if (text !== null && payloadType === storedType) {
    // With the environment's own credential, whatever the task's code has configured. A failure here is retried.
    const stored = await resolveStored(() => new ApiClient(), { text, type: payloadType });
    ({ text, type: payloadType } = stored);
  }
  try {
    payload = decode(text, payloadType);
  } catch (error) {
    throw new PayloadError(
      'PayloadParseError',
      `The payload is not ${payloadType}: ${(error as Error).message}`,
    );
  }
  if (!schema) return payload;
  const result = await schema['~standard'].validate(payload);
  if (!result.issues) return result.value;
  const issues = result.issues.slice(0, 20).map(issueText);
  if (result.issues.length > issues.length) issues.push(`and ${result.issues.length - issues.length} more`);
  throw new PayloadError(
    'PayloadValidationError',
    `The payload does not fit the schema of task ${id}: ${issues.join('; ')}`,
  );
}
