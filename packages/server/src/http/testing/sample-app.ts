import { operation, type OperationDeclaration } from '@millrace/contract';
import { z } from 'zod';
import type { Authenticate } from '../../auth/authenticate.ts';
import { createLog } from '../../logger.ts';
import type { HandlersOf } from '../../request.ts';
import { Problem } from '../../problem.ts';
import { createHttpApp, type HttpAppOptions } from '../app.ts';

const reply = z.looseObject({});

/** A small API with one operation per kind. */
export const sampleOperations = {
  echo: operation({
    id: 'echo',
    method: 'POST',
    path: '/api/v1/tasks/:taskId/echo',
    tag: 'sample',
    summary: 'Returns the parsed request',
    access: { secretKey: true, publicToken: true, action: 'trigger', on: 'tasks' },
    params: z.object({ taskId: z.string().min(1).max(128) }),
    query: z.object({
      'page[size]': z.coerce.number().int().min(1).max(100).default(25),
      __proto__x: z.string().optional(),
    }),
    body: z.object({ payload: z.unknown().optional(), name: z.string().optional() }),
    bodyLimit: 1_000,
    reply,
  }),
  listThings: operation({
    id: 'listThings',
    method: 'GET',
    path: '/api/v1/things',
    tag: 'sample',
    summary: 'A collection',
    access: { secretKey: true, publicToken: true, action: 'read', on: 'errors' },
    query: z.object({ 'filter[status]': z.enum(['a', 'b']).optional() }),
    reply,
  }),
  closeThing: operation({
    id: 'closeThing',
    method: 'POST',
    path: '/api/v1/things/:errorId/close',
    tag: 'sample',
    summary: 'An optional body',
    access: { secretKey: true, action: 'write', on: 'errors' },
    params: z.object({ errorId: z.string() }),
    body: z.object({ reason: z.string() }),
    bodyOptional: true,
    status: 201,
    reply,
  }),
  readRun: operation({
    id: 'readRun',
    method: 'GET',
    path: '/api/v1/runs/:runId',
    tag: 'sample',
    summary: 'An object that can also be reached by its tags',
    access: { secretKey: true, publicToken: true, action: 'read', on: 'runs', objects: true },
    params: z.object({ runId: z.string() }),
    reply,
  }),
  forgetful: operation({
    id: 'forgetful',
    method: 'GET',
    path: '/api/v1/forgetful/:runId',
    tag: 'sample',
    summary: 'Its handler claims to authorize, but does not',
    access: { secretKey: true, publicToken: true, action: 'read', on: 'runs', objects: true },
    params: z.object({ runId: z.string() }),
    reply,
  }),
  fail: operation({
    id: 'fail',
    method: 'POST',
    path: '/api/v1/fail',
    tag: 'sample',
    summary: 'Fails with the requested status',
    access: { secretKey: true, action: 'write', on: 'runs' },
    body: z.object({ status: z.number() }),
    reply,
  }),
  unruled: operation({
    id: 'unruled',
    method: 'GET',
    path: '/api/v1/unruled',
    tag: 'sample',
    summary: 'Not allowed by any scope',
    access: { secretKey: true },
    reply,
  }),
  forUsers: operation({
    id: 'forUsers',
    method: 'GET',
    path: '/api/v1/user',
    tag: 'sample',
    summary: 'For users',
    access: { personalAccessToken: true },
    reply,
  }),
  open: operation({
    id: 'open',
    method: 'GET',
    path: '/api/v1/open',
    tag: 'sample',
    summary: 'Open to every caller',
    access: { open: true },
    reply,
  }),
} as const satisfies Record<string, OperationDeclaration>;

export const sampleHandlers: HandlersOf<typeof sampleOperations> = {
  echo: async ({ params, query, body, environment, header, setHeader }) => {
    return { params, query, body, environment: environment.kind, bound: [typeof header, typeof setHeader] };
  },
  listThings: async (request) => {
    request.setHeader('x-seen', request.header('X-Sent') ?? 'none');
    return { data: [], left: undefined };
  },
  closeThing: async ({ body }) => ({ body: body ?? 'none' }),
  readRun: async (request) => {
    request.authorize([
      { type: 'runs', id: request.params.runId },
      { type: 'tags', id: 'org:42' },
    ]);
    return { id: request.params.runId };
  },
  forgetful: async ({ params }) => ({ id: params.runId }),
  fail: async (request) => {
    const { status } = request.body;
    request.setHeader('x-trigger-jwt', status === 2 ? 'no header\n' : 'a token');
    if (status === 2) return {};
    if (status === 0) throw new Error('the password is hunter2', { cause: new Error('deeper') });
    if (status === 1) throw 'a text';
    throw new Problem('unprocessable', `as told: ${status}`, { code: 'told' }, undefined, status);
  },
  unruled: async () => ({}),
  forUsers: async ({ principal }) => ({ kind: principal.kind }),
  open: async () => ({ open: true }),
};

type Options = HttpAppOptions<typeof sampleOperations>;

/** The sample API, with its log. Listen on it or inject requests into it. */
export function createSampleApp(authenticate: Authenticate, more: Partial<Options> = {}) {
  const lines: string[] = [];
  const app = createHttpApp({
    operations: sampleOperations,
    handlers: sampleHandlers,
    authenticate,
    findRole: async () => undefined,
    // The access of its callers never ends.
    access: { watch: () => () => {} },
    isReady: () => Promise.resolve(),
    log: createLog({ write: (line) => void lines.push(line) }),
    ...more,
  });
  return { app, lines };
}
