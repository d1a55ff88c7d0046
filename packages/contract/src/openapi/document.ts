import { z } from 'zod';
import { browserRole, type Access } from '../access.ts';
import type { OperationDeclaration } from '../operation.ts';
import { errorCodeHeader, errorCodes } from '../error-codes.ts';
import { helpAt, helpHeader } from '../help.ts';
import { errorBody } from '../operations/shapes.ts';

type JsonSchema = z.core.JSONSchema.BaseSchema;

/** An OpenAPI 3.1 document; see https://spec.openapis.org/oas/v3.1.0. */
export interface OpenApiDocument extends Readonly<Record<string, unknown>> {
  readonly openapi: '3.1.0';
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface OpenApiOptions {
  /** The address to which the paths are relative. Default: the one from which the document was fetched. */
  readonly serverUrl?: string;
}

/**
 * Describes operations as OpenAPI 3.1, from their declarations: requests in their sent form, responses in their received form. The version
 * label is `2024-04`.
 *
 * @example
 * const document = openApiDocument(operations, { serverUrl: 'https://millrace.example.com' });
 * await writeFile('openapi.json', JSON.stringify(document, null, 2));
 */
export function openApiDocument(
  operations: Readonly<Record<string, OperationDeclaration>>,
  { serverUrl = '/' }: OpenApiOptions = {},
): OpenApiDocument {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const declaration of Object.values(operations)) {
    const path = declaration.path.replace(/:(\w+)/g, '{$1}');
    (paths[path] ??= {})[declaration.method.toLowerCase()] = describe(declaration);
  }
  const tags = new Set(Object.values(operations).map(({ tag }) => tag));
  const schemas: Record<string, unknown> = { Error: schemaOf(errorBody) };
  const lifted = liftDefinitions(paths, schemas);
  return {
    openapi: '3.1.0',
    info: {
      title: 'Millrace',
      version: '2024-04',
      description:
        'Background tasks in TypeScript: runs, queues, schedules, environment variables, errors, events, sessions.',
    },
    servers: [{ url: serverUrl }],
    tags: [...tags].map((name) => ({ name })),
    paths: lifted,
    components: { schemas, securitySchemes, parameters: { branch }, headers: { help, errorCode } },
  };
}

const branch = {
  name: 'x-service-branch',
  in: 'header',
  required: false,
  description:
    'The branch of the preview or dev environment that the request applies to. Ignored for stg and prod, and with public tokens.',
  schema: { type: 'string' },
};

const help = {
  description:
    'The documentation of the failure: a path in the repository and in the npm package millrace. `millrace help <anchor>` prints the section. A response without it usually comes from another component, such as a proxy.',
  schema: { type: 'string', examples: [helpAt('not-found')] },
};

const errorCode = {
  description:
    'A stable code for programs: it does not change when the message changes. Newer servers may send additional codes.',
  schema: { type: 'string', enum: Object.keys(errorCodes) },
};

const securitySchemes = {
  secretKey: { type: 'http', scheme: 'bearer', description: "An environment's secret key, `svc_prod_sk_…`" },
  personalAccessToken: { type: 'http', scheme: 'bearer', description: "A user's token, `svc_pat_…`" },
  publicToken: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT', description: 'A public access token' },
  browserSession: {
    type: 'apiKey',
    in: 'cookie',
    name: 'millrace_session',
    description:
      'A browser that is logged in to the dashboard; only with the header `x-millrace-dashboard: 1`',
  },
};

function describe(declaration: OperationDeclaration): Record<string, unknown> {
  const { id, tag, summary, access, params, query, body, bodyOptional, bodyText, status = 200 } = declaration;
  const { reply, streams, bodyStream } = declaration;
  const parameters = [
    ...parametersIn('path', params),
    ...parametersIn('query', query),
    ...(isOfBranch(declaration) ? [{ $ref: '#/components/parameters/branch' }] : []),
  ];
  return {
    operationId: id,
    tags: [tag],
    summary,
    ...(scopeNote(access) && { description: scopeNote(access) }),
    security: securityOf(access),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: !bodyOptional && !bodyText,
        content: bodyText ? { ...json({}), 'text/plain': { schema: schemaOf(body) } } : json(schemaOf(body)),
      },
    }),
    ...(bodyStream && {
      requestBody: {
        required: true,
        content: Object.fromEntries(bodyStream.map((type) => [type, { schema: { type: 'string' } }])),
      },
    }),
    responses: {
      [status]: {
        description: 'Done',
        content: streams ? { 'text/event-stream': { schema: { type: 'string' } } } : json(schemaOf(reply)),
      },
      ...Object.fromEntries(errorStatuses(declaration).map((each) => [each, failure(each)])),
    },
  };
}

const scopeNote = ({ action, on }: Access): string | undefined =>
  action && on && `A restricted key or a public token needs the scope \`${action}:${on}\`.`;

/** Secret keys act in their environment, or in a branch of it. */
const isOfBranch = ({ access }: OperationDeclaration): boolean =>
  access.secretKey === true && !access.wholeEnvironment;

const securityOf = (access: Access) =>
  access.open
    ? []
    : [
        ...(['secretKey', 'personalAccessToken', 'publicToken'] as const).filter((kind) => access[kind]),
        ...(browserRole(access) === false ? [] : ['browserSession']),
      ].map((kind) => ({ [kind]: [] }));

function errorStatuses(declaration: OperationDeclaration): number[] {
  const { access, params, query, body, bodyLimit, errors = [] } = declaration;
  const takesInput = (params ?? query ?? body) !== undefined;
  const statuses = new Set([
    ...(takesInput ? [400] : []),
    ...(access.open ? [] : [401, 403]),
    ...(bodyLimit === undefined ? [] : [413]),
    ...errors,
    500,
  ]);
  return [...statuses].toSorted((a, b) => a - b);
}

const failures: Readonly<Record<number, string>> = {
  400: 'Invalid request',
  401: 'The credential is missing, unknown, expired, revoked, or of a type that this operation does not accept',
  403: 'The credential does not allow the operation',
  404: 'Not found',
  409: 'Conflict with the current state',
  412: 'A precondition of the request failed',
  413: 'The body is too large',
  415: 'The operation does not accept this body type',
  422: 'Well-formed, but not acceptable',
  429: 'Too many requests',
  500: 'Internal server error; the header x-request-id identifies it',
};

const failure = (status: number) => ({
  description: failures[status] ?? 'The request failed',
  headers: {
    [errorCodeHeader]: { $ref: '#/components/headers/errorCode' },
    [helpHeader]: { $ref: '#/components/headers/help' },
  },
  content: json({ $ref: '#/components/schemas/Error' }),
});

const json = (schema: JsonSchema) => ({ 'application/json': { schema } });

function parametersIn(location: 'path' | 'query', schema: z.ZodType | undefined) {
  if (!schema) return [];
  const { properties = {}, required = [] } = schemaOf(schema);
  return Object.entries(properties).map(([name, each]) => ({
    name,
    in: location,
    required: location === 'path' || required.includes(name),
    schema: each,
  }));
}

/** The wire form of a schema: requests before transformation, responses as handlers return them. */
function schemaOf(schema: z.ZodType): JsonSchema {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema._zod.def.type === 'date')
        Object.assign(jsonSchema, { type: 'string', format: 'date-time' });
    },
  });
  return rest;
}

/** Moves the definitions of recursive schemas to the document's components, under unique names. */
function liftDefinitions<T>(value: T, schemas: Record<string, unknown>): T {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((each) => liftDefinitions<unknown>(each, schemas)) as T;
  if (!('$defs' in value)) {
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, liftDefinitions<unknown>(each, schemas)]),
    ) as T;
  }
  const prefix = `Schema${Object.keys(schemas).length}`;
  const renamed = JSON.parse(
    JSON.stringify(value).replaceAll('"#/$defs/', `"#/components/schemas/${prefix}`),
  ) as {
    $defs: Record<string, unknown>;
  };
  const { $defs, ...rest } = renamed;
  for (const [name, definition] of Object.entries($defs)) schemas[prefix + name] = definition;
  return rest as T;
}
