import type { TaskManifest } from '@millrace/contract/runner';
import type { StandardJSONSchemaV1, StandardSchemaV1 } from '@standard-schema/spec';

type Declared = Pick<TaskManifest, 'payloadSchema' | 'payloadSchemaNote'>;

const shownCharacters = 300;

/** Library-specific options. Zod writes `{}` for types that JSON Schema cannot express, such as dates, instead of throwing. */
const optionsOf: Readonly<Record<string, Record<string, unknown>>> = { zod: { unrepresentable: 'any' } };

/**
 * The JSON Schema of a task's trigger payload, if its schema library supports Standard JSON Schema. Otherwise a message explaining why
 * there is none.
 */
export function payloadSchemaOf(schema: StandardSchemaV1 | undefined): Declared {
  if (!schema) return {};
  const { vendor, jsonSchema } = schema['~standard'] as StandardSchemaV1.Props &
    Partial<StandardJSONSchemaV1.Props>;
  if (typeof jsonSchema?.input !== 'function')
    return {
      payloadSchemaNote: `its schema (${vendor}) does not implement Standard JSON Schema; zod supports it since 4.2`,
    };
  try {
    const libraryOptions = optionsOf[vendor];
    const written: unknown = jsonSchema.input({
      target: 'draft-2020-12',
      ...(libraryOptions && { libraryOptions }),
    });
    if (typeof written !== 'object' || written === null || Array.isArray(written))
      throw new TypeError('it is not an object');
    // Converted to JSON, which drops values that cannot be sent.
    return { payloadSchema: JSON.parse(JSON.stringify(written)) as Record<string, unknown> };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return {
      payloadSchemaNote: `${vendor} cannot convert it to JSON Schema: ${message.slice(0, shownCharacters)}`,
    };
  }
}
