import { redacted, type EnvironmentKind } from '@millrace/contract';
import { z } from 'zod';
import { askSource, SourceRefused, SourceUnreachable, type Source } from './source.ts';

/** The source environment and its credentials. */
export interface From {
  readonly source: Source;
  readonly projectRef: string;
  readonly env: EnvironmentKind;
  /** A personal access token. */
  readonly token?: string;
  /** The environment's secret key. */
  readonly key?: string;
}

export interface SourceVariable {
  readonly name: string;
  /** Undefined for a secret that could not be read. */
  readonly value: string | undefined;
  readonly isSecret: boolean;
}

export interface SourceSchedule {
  readonly id: string;
  readonly task: string;
  readonly active: boolean;
  readonly cron: string;
  readonly timezone: string;
  readonly window?: string;
  readonly externalId?: string;
  readonly deduplicationKey?: string;
  readonly isDeclared: boolean;
}

/** The names of environments in API paths. */
const slugs: Readonly<Record<EnvironmentKind, string>> = {
  dev: 'dev',
  stg: 'staging',
  prod: 'prod',
  preview: 'preview',
};

const projectPath = ({ projectRef }: From): string => `/api/v1/projects/${encodeURIComponent(projectRef)}`;

/** Characters allowed in a header. */
export const credentialText = /^[\x21-\x7e]+$/;

/** The secret key of the environment: the given one, otherwise one that the token can read. Undefined if there is neither. */
export async function readKey(from: From): Promise<string | undefined> {
  const { source, env, token, key } = from;
  if (key !== undefined) {
    // Not all requests name the project, so a key of another project is rejected here.
    await listVariables(from, key);
    return key;
  }
  if (token === undefined) return undefined;
  // An invalid credential cannot be sent, and the error would quote it.
  const reply = z.looseObject({ apiKey: z.string().regex(credentialText).optional().catch(undefined) });
  const path = `${projectPath(from)}/${slugs[env]}`;
  return askSource(source, { path, credential: token, reply }).then(
    ({ apiKey }) => apiKey,
    (error: unknown) => {
      if (error instanceof SourceRefused && error.status === 403) return undefined;
      throw described(from, error);
    },
  );
}

/** A clearer error for a project or environment that does not exist. */
function described({ source, projectRef, env, token }: From, error: unknown): unknown {
  if (!(error instanceof SourceRefused)) return error;
  const { status, message } = error;
  const where = `the project ${projectRef} and its environment ${env} at ${source.url}`;
  if (status === 404)
    return new SourceRefused(
      404,
      `The ${token === undefined ? 'key' : 'token'} cannot access ${where} (${message}). Check --from-project and --from-env.`,
    );
  return status === 403 ? new SourceUnreachable(`The credential cannot read ${where} (${message}).`) : error;
}

const listed = z.array(
  z.looseObject({ name: z.string(), value: z.string(), isSecret: z.boolean().default(false) }),
);

function listVariables(from: From, credential: string) {
  const path = `${projectPath(from)}/envvars/${slugs[from.env]}`;
  return askSource(from.source, { path, credential, reply: listed }).catch((error: unknown) => {
    throw described(from, error);
  });
}

/** The variables of the environment. Values of secret ones are read with its key. */
export async function readVariables(from: From, key: string | undefined): Promise<SourceVariable[]> {
  const variables = await listVariables(from, from.token ?? key ?? '');
  const hidden = variables.some(({ value, isSecret }) => isSecret && value === redacted);
  const values = hidden && key !== undefined ? await readValues(from, key) : {};
  return variables.map(({ name, value, isSecret }) => ({
    name,
    isSecret,
    value: !isSecret || value !== redacted ? value : Object.hasOwn(values, name) ? values[name] : undefined,
  }));
}

/** All values, as passed to the tasks of the environment. None if the key may not read them. */
async function readValues(from: From, key: string): Promise<Readonly<Record<string, string>>> {
  const reply = z.looseObject({ variables: z.record(z.string(), z.string()) });
  const path = `${projectPath(from)}/envvars`;
  return askSource(from.source, { path, credential: key, reply }).then(
    ({ variables }) => variables,
    (error: unknown) => {
      if (error instanceof SourceRefused && [403, 404].includes(error.status)) return {};
      throw error;
    },
  );
}

const schedulePage = z.looseObject({
  data: z.array(
    z.looseObject({
      id: z.string(),
      type: z.string(),
      task: z.string(),
      active: z.boolean(),
      generator: z.looseObject({ expression: z.string() }),
      timezone: z.string(),
      window: z.string().nullish(),
      externalId: z.string().nullish(),
      deduplicationKey: z.string().nullish(),
    }),
  ),
  pagination: z.looseObject({ totalPages: z.number() }),
});

/** All schedules of the environment. */
export async function readSchedules({ source }: From, key: string): Promise<SourceSchedule[]> {
  const found = new Map<string, SourceSchedule>();
  for (let page = 1, pages = 1; page <= pages; page++) {
    const query = { page: String(page), perPage: '100' };
    const path = '/api/v1/schedules';
    const { data, pagination } = await askSource(source, {
      path,
      query,
      credential: key,
      reply: schedulePage,
    });
    pages = pagination.totalPages;
    // A schedule created in the meantime shifts the others toward the next page.
    for (const { id, type, task, active, generator, timezone, ...rest } of data)
      found.set(id, {
        id,
        task,
        active,
        timezone,
        cron: generator.expression,
        isDeclared: type === 'DECLARATIVE',
        ...(rest.window && { window: rest.window }),
        ...(rest.externalId && { externalId: rest.externalId }),
        ...(rest.deduplicationKey && { deduplicationKey: rest.deduplicationKey }),
      });
  }
  return [...found.values()];
}

const runPage = z.looseObject({
  data: z.array(z.looseObject({ id: z.string() })),
  pagination: z.looseObject({ next: z.string().optional() }),
});

/** Runs of the environment, page by page, newest first, in the format of the API. */
export async function* readRuns(
  from: From,
  key: string | undefined,
  period: string,
): AsyncGenerator<readonly object[]> {
  const { source, env, token } = from;
  const path = key === undefined ? `${projectPath(from)}/runs` : '/api/v1/runs';
  const query = {
    ...(key === undefined && { 'filter[env]': slugs[env] }),
    'filter[createdAt][period]': period,
    'page[size]': '100',
  };
  for (let after: string | undefined; ;) {
    const { data, pagination } = await askSource(source, {
      path,
      query: { ...query, ...(after !== undefined && { 'page[after]': after }) },
      credential: key ?? token ?? '',
      reply: runPage,
    });
    yield data;
    if (pagination.next === undefined || pagination.next === after) return;
    after = pagination.next;
  }
}
