import type { StandardSchemaV1 } from '@standard-schema/spec';
import { payloadSchemaOf } from '../executor/payload-schema.ts';

/** A JSON Schema of an object. */
export type JsonSchema = Readonly<Record<string, unknown>>;

type Validated =
  | { readonly success: true; readonly value: unknown }
  | { readonly success: false; readonly error: Error };

// Registered globally by the AI SDK so that it recognizes schemas from other copies of itself. Using the symbol avoids an import.
const schemaMark = Symbol.for('vercel.ai.schema');
const validatorMark = Symbol.for('vercel.ai.validator');

/**
 * A tool's schema in the form that the AI SDK (5 and later) expects. The model's value is validated but passed on unchanged: the run parses it
 * with the task's schema, which may transform it.
 */
export function toolSchema(
  task: string,
  schema: StandardSchemaV1 | undefined,
  jsonSchema: JsonSchema | undefined,
) {
  return {
    [schemaMark]: true,
    [validatorMark]: true,
    _type: undefined,
    jsonSchema: jsonSchema ?? writtenSchema(task, schema),
    validate: async (value: unknown): Promise<Validated> => {
      const result = await schema?.['~standard'].validate(value);
      if (!result?.issues) return { success: true, value };
      const issues = result.issues.map(({ message, path }) => {
        const at = path?.map((part) => String(typeof part === 'object' ? part.key : part)).join('.');
        return at ? `${message} at "${at}"` : message;
      });
      return {
        success: false,
        error: new TypeError(`Invalid payload for ${task}: ${issues.join('; ')}`),
      };
    },
  };
}

function writtenSchema(task: string, schema: StandardSchemaV1 | undefined): JsonSchema {
  const { payloadSchema, payloadSchemaNote } = payloadSchemaOf(schema);
  if (!payloadSchema) {
    throw new TypeError(
      schema
        ? `The payload of task ${task} has no JSON Schema for models: ${payloadSchemaNote}. Pass inputSchema, a JSON Schema, to asTool.`
        : `Task ${task} has no schema, which a model needs to build its payload. Declare the task with \`schema\`, or pass inputSchema, a JSON Schema, to asTool.`,
    );
  }
  if (payloadSchema['type'] !== 'object') {
    throw new TypeError(
      `Models call tools with an object, but the payload of task ${task} is not an object. Wrap it in an object.`,
    );
  }
  return payloadSchema;
}
