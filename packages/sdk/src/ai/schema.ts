import type { StandardSchemaV1 } from '@standard-schema/spec';
import { payloadSchemaOf } from '../executor/payload-schema.ts';

/** A JSON Schema of an object. */
export type JsonSchema = Readonly<Record<string, unknown>>;

type Validated =
  | { readonly success: true; readonly value: unknown }
  | { readonly success: false; readonly error: Error };

// Registered by the AI SDK, so that schemas of several copies of it are known: with them it needs no import here.
const schemaMark = Symbol.for('vercel.ai.schema');
const validatorMark = Symbol.for('vercel.ai.validator');

/**
 * The schema of a tool as the AI SDK (5 and later) has them. The value of a model is checked and given on as it is: the run reads it with the
 * schema of the task, which may change it.
 */
export function toolSchema(
  task: string,
  schema: StandardSchemaV1 | undefined,
  given: JsonSchema | undefined,
) {
  return {
    [schemaMark]: true,
    [validatorMark]: true,
    _type: undefined,
    jsonSchema: given ?? writtenSchema(task, schema),
    validate: async (value: unknown): Promise<Validated> => {
      const result = await schema?.['~standard'].validate(value);
      if (!result?.issues) return { success: true, value };
      const issues = result.issues.map(({ message, path }) => {
        const at = path?.map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
        return at ? `${message} at "${at}"` : message;
      });
      return {
        success: false,
        error: new TypeError(`The payload of ${task} is not valid: ${issues.join('; ')}`),
      };
    },
  };
}

function writtenSchema(task: string, schema: StandardSchemaV1 | undefined): JsonSchema {
  const { payloadSchema, payloadSchemaNote } = payloadSchemaOf(schema);
  if (!payloadSchema) {
    throw new TypeError(
      schema
        ? `A model cannot know the payload of task ${task}: ${payloadSchemaNote}. Give asTool an inputSchema, a JSON Schema.`
        : `A model cannot know the payload of task ${task}, which has no schema. Declare the task with \`schema\`, or give asTool an inputSchema, a JSON Schema.`,
    );
  }
  if (payloadSchema['type'] !== 'object') {
    throw new TypeError(
      `Models call tools with an object, and the payload of task ${task} is none. Wrap it in an object.`,
    );
  }
  return payloadSchema;
}
