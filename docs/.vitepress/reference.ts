/** The API reference, generated from the OpenAPI document: a page for each tag. */
import { operations } from '@millrace/contract';
import { openApiDocument } from '@millrace/contract/openapi';

interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
}

interface Content {
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}

interface Operation {
  readonly operationId: string;
  readonly tags: readonly [string];
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly {
    readonly name?: string;
    readonly in?: string;
    readonly required?: boolean;
    readonly schema?: Schema;
  }[];
  readonly requestBody?: Content;
  readonly responses: Readonly<Record<string, Content & { readonly description: string }>>;
}

const credentials: Readonly<Record<string, string>> = {
  secretKey: 'a secret key',
  personalAccessToken: 'a personal access token',
  publicToken: 'a public token',
  browserSession: 'a browser session',
};

const all = Object.entries(openApiDocument(operations).paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({
    path,
    method: method.toUpperCase(),
    ...(operation as Operation),
  })),
);

const slugOf = (tag: string): string => tag.replaceAll(/\W+/g, '-');

/** The tags of the operations, with the slug of their page. */
export const tags = [...new Set(all.map((operation) => operation.tags[0]))].map((tag) => ({
  tag,
  slug: slugOf(tag),
}));

/** The page of a tag, as Markdown. */
export function referenceOf(tag: string): string {
  const found = all.filter((operation) => operation.tags[0] === tag);
  const rows = found.map(
    ({ operationId, method, path, summary }) =>
      `| [${operationId}](#${operationId.toLowerCase()}) | \`${method} ${path}\` | ${summary} |`,
  );
  return [
    `# ${tag[0]?.toUpperCase()}${tag.slice(1)}`,
    `The operations of the HTTP API with the tag “${tag}”. Requests contain a [credential](../access.md#credentials) as \`Authorization: Bearer …\`. Error responses have a [code](../error-codes.md) in the header \`x-millrace-error-code\`, and in \`x-millrace-help\` the section of [troubleshooting](../troubleshooting.md) that explains them.`,
    `| Operation | Request | Purpose |\n|---|---|---|\n${rows.join('\n')}`,
    ...found.map(sectionOf),
  ].join('\n\n');
}

/** The searchable sections on the page of a tag: each operation with its id, path and description. */
export function searchedSections(slug: string): { anchor: string; titles: string[]; text: string }[] {
  const { tag } = tags.find((entry) => entry.slug === slug) ?? {};
  return all
    .filter((operation) => operation.tags[0] === tag)
    .map(({ operationId, method, path, summary, description = '', parameters = [], requestBody }) => {
      const fields = Object.keys(plain(bodyOf(requestBody))?.properties ?? {});
      return {
        anchor: operationId.toLowerCase(),
        titles: [tag ?? '', operationId],
        text: [summary, method, path, description, ...parameters.map(({ name }) => name), ...fields].join(
          ' ',
        ),
      };
    });
}

function sectionOf(operation: (typeof all)[number]): string {
  const { operationId, method, path, summary, description, security, parameters = [] } = operation;
  const callers = security.flatMap((scheme) => Object.keys(scheme)).map((kind) => credentials[kind] ?? kind);
  const [status = '200', reply] =
    Object.entries(operation.responses).find(([code]) => code.startsWith('2')) ?? [];
  const failures = Object.entries(operation.responses)
    .filter(([code]) => !code.startsWith('2'))
    .map(([code, { description: why }]) => `| ${code} | ${why} |`);
  return [
    `## ${operationId}`,
    `${summary}.`,
    `\`\`\`http\n${method} ${path}\n\`\`\``,
    callers.length === 0
      ? 'Requires no credential.'
      : `Requires ${new Intl.ListFormat('en', { type: 'disjunction' }).format(callers)}. ${description ?? ''}`,
    ...tableOf(
      'Parameters',
      parameters.flatMap(({ name, in: location, required, schema }) =>
        name === undefined ? [] : [rowOf(name, schema, required === true, location)],
      ),
    ),
    ...tableOf('Body', fieldsOf(bodyOf(operation.requestBody))),
    ...tableOf(`Response ${status}`, fieldsOf(bodyOf(reply))),
    `**Errors**\n\n| Status | Reason |\n|---|---|\n${failures.join('\n')}`,
  ].join('\n\n');
}

const bodyOf = (content: Content | undefined): Schema | undefined =>
  Object.values(content?.content ?? {})[0]?.schema;

const tableOf = (title: string, rows: readonly string[]): string[] =>
  rows.length === 0 ? [] : [`**${title}**\n\n| Field | Type | Notes |\n|---|---|---|\n${rows.join('\n')}`];

/** The fields of an object, and those of the objects in it, down to three levels. */
function fieldsOf(schema: Schema | undefined, above = '', depth = 0): string[] {
  const value = plain(schema);
  const of = value?.items === undefined ? value : plain(value.items);
  const prefix = value?.items === undefined ? above : `${above}[]`;
  return Object.entries(of?.properties ?? {}).flatMap(([name, field]) => {
    const path = prefix === '' ? name : `${prefix}.${name}`;
    const nested = depth < 2 ? fieldsOf(field, path, depth + 1) : [];
    return [rowOf(path, field, of?.required?.includes(name) === true), ...nested];
  });
}

/** The schema without null as an alternative. */
const plain = (schema: Schema | undefined): Schema | undefined =>
  schema?.anyOf?.find(({ type }) => type !== 'null') ?? schema;

function rowOf(name: string, schema: Schema | undefined, isRequired: boolean, location?: string): string {
  const { default: standard, minimum, maximum, maxLength } = plain(schema) ?? {};
  // The range of safe integers is not a limit of the field.
  const min = minimum === Number.MIN_SAFE_INTEGER ? undefined : minimum;
  const max = maximum === Number.MAX_SAFE_INTEGER ? undefined : maximum;
  const notes = [
    location === undefined ? '' : `in the ${location}`,
    isRequired ? 'required' : '',
    standard === undefined ? '' : `default \`${JSON.stringify(standard)}\``,
    rangeOf(min, max),
    maxLength === undefined ? '' : `up to ${maxLength} characters`,
  ];
  return `| \`${name}\` | ${typeOf(schema)} | ${notes.filter(Boolean).join(', ')} |`;
}

function rangeOf(minimum: number | undefined, maximum: number | undefined): string {
  if (maximum === undefined) return minimum === undefined ? '' : `at least ${minimum}`;
  return minimum === undefined ? `at most ${maximum}` : `${minimum} to ${maximum}`;
}

function typeOf(schema: Schema | undefined): string {
  if (schema === undefined) return 'any';
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices) return [...new Set(choices.map(typeOf))].join(' or ');
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (schema.enum) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(' or ');
  if (schema.type === 'array') return `array of ${typeOf(schema.items)}`;
  if (schema.format === 'date-time') return 'ISO 8601 time';
  return schema.type === undefined ? 'any' : [schema.type].flat().join(' or ');
}
