/** The part of JSON schema that the OpenAPI document uses. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly minLength?: number;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly format?: string;
  readonly pattern?: string;
}

const texts: Readonly<Record<string, string>> = {
  email: 'a@example.com',
  'date-time': '2999-01-01T00:00:00.000Z',
  uri: 'https://example.com',
};

/** Texts that match a pattern which other texts do not match. */
const patterned: Readonly<Record<string, string>> = {
  '^[0-9a-f]{64}$': '0'.repeat(64),
  '^run_[0-9a-z]{24}$': `run_${'0'.repeat(24)}`,
};

/** A small value that fits a schema: required members only. */
export function sampleOf(schema: Schema): unknown {
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return schema.enum[0];
  const [first] = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? [];
  if (first) return sampleOf(first);
  switch ([schema.type].flat()[0]) {
    case 'object':
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, sampleOf(schema.properties?.[name] ?? {})]),
      );
    case 'array':
      return Array.from({ length: schema.minItems ?? 0 }, () => sampleOf(schema.items ?? {}));
    case 'integer':
    case 'number':
      return Math.max(schema.minimum ?? 1, (schema.exclusiveMinimum ?? 0) + 1);
    case 'boolean':
      return true;
    case 'string':
      return (
        texts[schema.format ?? ''] ??
        patterned[schema.pattern ?? ''] ??
        'x'.repeat(Math.max(1, schema.minLength ?? 1))
      );
    default:
      return {};
  }
}

/** A value that fits a schema with all optional members, and `text` wherever any text is allowed. */
export function wholeSampleOf(schema: Schema, text: string): unknown {
  if (schema.const !== undefined || schema.enum) return sampleOf(schema);
  const [first] = schema.anyOf ?? schema.oneOf ?? schema.allOf ?? [];
  if (first) return wholeSampleOf(first, text);
  switch ([schema.type].flat()[0]) {
    case 'object': {
      const { additionalProperties: more } = schema;
      return Object.fromEntries([
        ...Object.entries(schema.properties ?? {}).map(([name, member]) => [
          name,
          wholeSampleOf(member, text),
        ]),
        ...(typeof more === 'object' ? [[text, wholeSampleOf(more, text)]] : []),
      ]) as unknown;
    }
    case 'array':
      return Array.from({ length: Math.max(1, schema.minItems ?? 0) }, () =>
        wholeSampleOf(schema.items ?? {}, text),
      );
    case 'string':
      return schema.format === undefined ? text : sampleOf(schema);
    case undefined:
      return { [text]: text };
    default:
      return sampleOf(schema);
  }
}
