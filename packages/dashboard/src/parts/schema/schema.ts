/** A JSON Schema, or a part of one. Keywords that are not supported here are checked by the task itself. */
export type Schema = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const maxReferences = 20;

/** The target of a `$ref` in the same document; `null` next to a single other choice is dropped. */
export function resolved(schema: unknown, root: Schema): Schema {
  let found = schema;
  for (let count = 0; count < maxReferences; count++) {
    if (!isObject(found)) return {};
    const reference = found['$ref'];
    if (typeof reference !== 'string' || !reference.startsWith('#')) break;
    found = reference
      .slice(1)
      .split('/')
      .filter(Boolean)
      .reduce<unknown>(
        (value, part) =>
          isObject(value) ? value[part.replaceAll('~1', '/').replaceAll('~0', '~')] : undefined,
        root,
      );
  }
  if (!isObject(found)) return {};
  const choices = choicesOf(found);
  if (choices.length !== 1) return found;
  const { anyOf: _, oneOf: __, ...rest } = found;
  return { ...rest, ...resolved(choices[0], root) };
}

/** The choices of `anyOf` and `oneOf` except `null`. */
const choicesOf = (schema: Schema): readonly unknown[] =>
  [schema['anyOf'], schema['oneOf']]
    .flatMap((list): readonly unknown[] => (Array.isArray(list) ? list : []))
    .filter((choice) => !(isObject(choice) && choice['type'] === 'null'));

export type Kind = 'object' | 'array' | 'string' | 'number' | 'integer' | 'boolean' | 'enum' | 'any';

/** The kind of a resolved schema's values; `any` if a form has no field for it. */
export function kindOf(schema: Schema): Kind {
  if (choicesOf(schema).length > 1) return 'any';
  if (Array.isArray(schema['enum']) || 'const' in schema) return 'enum';
  const declaredType = schema['type'];
  const types = (Array.isArray(declaredType) ? declaredType : [declaredType]).filter(
    (type) => type !== 'null',
  );
  const [type] = types;
  if (types.length > 1) return 'any';
  if (type === 'object' || (type === undefined && isObject(schema['properties'])))
    return isObject(schema['properties']) ? 'object' : 'any';
  if (type === 'array') return isObject(schema['items']) ? 'array' : 'any';
  return type === 'string' || type === 'number' || type === 'integer' || type === 'boolean' ? type : 'any';
}

export const propertiesOf = (schema: Schema): readonly (readonly [name: string, schema: unknown])[] =>
  isObject(schema['properties']) ? Object.entries(schema['properties']) : [];

export const requiredOf = (schema: Schema): ReadonlySet<unknown> =>
  new Set(Array.isArray(schema['required']) ? schema['required'] : []);

export const valuesOf = (schema: Schema): readonly unknown[] =>
  Array.isArray(schema['enum']) ? schema['enum'] : 'const' in schema ? [schema['const']] : [];

/** The schema at a path inside a value. */
export function schemaAt(root: Schema, path: readonly (string | number)[]): Schema {
  return path.reduce<Schema>(
    (schema, part) => {
      if (typeof part === 'number') return resolved(schema['items'], root);
      const named = isObject(schema['properties']) ? schema['properties'][part] : undefined;
      return resolved(named ?? schema['additionalProperties'], root);
    },
    resolved(root, root),
  );
}

const maxDepth = 6;

/** An initial value: the required members, with the schema's own examples and defaults. */
export function exampleOf(rawSchema: unknown, root: Schema, depth = 0): unknown {
  const schema = resolved(rawSchema, root);
  const [example] = Array.isArray(schema['examples']) ? schema['examples'] : [];
  if (example !== undefined) return example;
  if (schema['default'] !== undefined) return schema['default'];
  const kind = kindOf(schema);
  if (kind === 'enum') return valuesOf(schema)[0];
  if (kind === 'object') {
    if (depth >= maxDepth) return {};
    const required = requiredOf(schema);
    return Object.fromEntries(
      propertiesOf(schema)
        .filter(([name]) => required.has(name))
        .map(([name, property]) => [name, exampleOf(property, root, depth + 1)]),
    );
  }
  if (kind === 'array') {
    const least = Number(schema['minItems'] ?? 0);
    return least > 0 && depth < maxDepth ? [exampleOf(schema['items'], root, depth + 1)] : [];
  }
  if (kind === 'number' || kind === 'integer') return Number(schema['minimum'] ?? 0);
  if (kind === 'boolean') return false;
  if (kind === 'string') return '';
  return schema['type'] === 'object' ? {} : schema['type'] === 'array' ? [] : null;
}

/** Whether a text without characters can be a value of the schema. */
export const allowsEmptyText = (schema: Schema): boolean =>
  schema['format'] === undefined && schema['pattern'] === undefined && Number(schema['minLength'] ?? 0) === 0;

/** A value to fill in: texts are empty, everything else that the schema requires is missing. */
export function blankOf(rawSchema: unknown, root: Schema, depth = 0): unknown {
  const schema = resolved(rawSchema, root);
  const kind = kindOf(schema);
  if (schema['default'] !== undefined) return schema['default'];
  if (kind === 'string') return allowsEmptyText(schema) ? '' : undefined;
  if (kind !== 'object' || depth >= maxDepth) return undefined;
  const required = requiredOf(schema);
  const members = propertiesOf(schema).flatMap(([name, property]) => {
    const value =
      required.has(name) || kindOf(resolved(property, root)) === 'string'
        ? blankOf(property, root, depth + 1)
        : undefined;
    return value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(members);
}

/** A short hint about the value of a field. */
export function hintOf(schema: Schema): string | undefined {
  const bounds = [
    ['minimum', 'at least'],
    ['exclusiveMinimum', 'more than'],
    ['maximum', 'at most'],
    ['exclusiveMaximum', 'less than'],
  ].flatMap(([key = '', words]) => {
    const value = schema[key];
    // The limits that zod writes for "an integer" are meaningless to a reader.
    return typeof value === 'number' && Math.abs(value) < Number.MAX_SAFE_INTEGER
      ? [`${words} ${value}`]
      : [];
  });
  const lengths = [
    ['minLength', 'maxLength', 'characters'],
    ['minItems', 'maxItems', 'items'],
  ].flatMap(([minKey = '', maxKey = '', noun]) => {
    const [from, to] = [schema[minKey], schema[maxKey]];
    if (from === undefined) return to === undefined ? [] : [`at most ${to} ${noun}`];
    return [
      to === undefined ? `${from} ${noun} or more` : `${from === to ? from : `${from} to ${to}`} ${noun}`,
    ];
  });
  const parts = [
    schema['description'],
    schema['format'] === undefined ? undefined : `format ${String(schema['format'])}`,
    ...bounds,
    ...lengths,
  ].filter((part): part is string => typeof part === 'string' && part !== '');
  return parts.length === 0 ? undefined : parts.join('; ');
}
