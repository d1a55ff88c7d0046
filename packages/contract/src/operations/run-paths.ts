import { z } from 'zod';
import { parseForeignJson } from '../foreign-json.ts';
import { operation } from '../operation.ts';
import { date } from './shapes.ts';

const maxNames = 8;

/** `metadata.customer.id` or `payload.order`: names of members, without the elements of lists. */
export const runPath = z
  .string()
  .max(256)
  .regex(
    new RegExp(`^(metadata|payload)(\\.[A-Za-z0-9_$-]{1,64}){1,${maxNames}}$`),
    `must be metadata or payload and 1 to ${maxNames} names of members, such as metadata.customer.id`,
  );

/** Maximum number of paths in an environment. */
export const maxRunPaths = 20;

export const declaredPath = z.object({
  path: z.string(),
  createdAt: date,
  /** Runs created since the declaration can be found immediately; older ones once the state is `READY`. */
  state: z.enum(['BACKFILLING', 'READY']),
  /** The indexed share of the older runs' time range, from 0 to 1, newest runs first. */
  progress: z.number(),
});
export type DeclaredPath = z.infer<typeof declaredPath>;

const write = { secretKey: true, action: 'write', on: 'runs', forbidsRuns: true } as const;

export const declareRunPath = operation({
  id: 'declareRunPath',
  method: 'POST',
  path: '/api/v1/run-paths',
  tag: 'runs',
  summary: 'Index runs by a path of their metadata or payload, for filters',
  access: write,
  body: z.object({ path: runPath }),
  reply: declaredPath,
  errors: [422],
});

export const listRunPaths = operation({
  id: 'listRunPaths',
  method: 'GET',
  path: '/api/v1/run-paths',
  tag: 'runs',
  summary: 'List the indexed paths of runs',
  access: { secretKey: true, action: 'read', on: 'runs' },
  reply: z.object({ data: z.array(declaredPath) }),
});

export const removeRunPath = operation({
  id: 'removeRunPath',
  method: 'DELETE',
  path: '/api/v1/run-paths/:path',
  tag: 'runs',
  summary: 'Stop indexing runs by a path',
  access: write,
  params: z.object({ path: z.string().min(1).max(256) }),
  reply: z.object({ path: z.string() }),
  errors: [404],
});

const value = z.union([z.string(), z.number(), z.boolean()]);

/** For each path below metadata or payload a value, or a list of which one must match. */
export const pathValues = z.record(z.string(), z.union([value, z.array(value).min(1).max(100)]));

/** The same as JSON. */
export const pathFilter = z.string().transform((text, context) => {
  try {
    const read = pathValues.safeParse(parseForeignJson(text, { maxDepth: 3 }));
    if (read.success) return read.data;
  } catch {
    // The text is not valid JSON.
  }
  const message =
    'send a JSON object of paths with a text, a number, a boolean or a list of them, such as {"customer.id":42}';
  context.addIssue({ code: 'custom', message });
  return z.NEVER;
});
