import { z } from 'zod';
import { operation } from '../operation.ts';

/** Lines before and after the one that is asked for. */
export const linesAround = 5;
/** Characters of a line that are shown. */
export const maxSourceLine = 500;

export const sourceLines = z.object({
  version: z.string(),
  /** Its path relative to the project, such as `src/orders.ts`; null where there are no lines. */
  file: z.string().nullable(),
  /** The line that was asked for, with up to five before and after it. Of a longer line the first 500 characters. */
  lines: z.array(z.object({ number: z.number().int(), text: z.string() })),
  /** Why there are no lines; null if there are. */
  note: z.string().nullable(),
});
export type SourceLines = z.infer<typeof sourceLines>;

export const retrieveSource = operation({
  id: 'retrieveSource',
  method: 'GET',
  path: '/api/v1/deployments/:version/source',
  tag: 'deployments',
  summary: 'Retrieve the lines around a place in the source of a version, such as a frame of a stack trace',
  access: { secretKey: true, action: 'read', on: 'sources', forbidsRuns: true },
  params: z.object({ version: z.string().min(1).max(128) }),
  query: z.object({
    /** As a stack trace has it, or relative to the project. */
    file: z
      .string()
      .min(1)
      .max(2_048)
      .refine((text) => !text.includes('\0'), 'must not contain a NUL character')
      .refine(
        (text) => text.split(/[/\\]/).every((part) => part !== '.' && part !== '..'),
        'must not have . or .. as a part; send the path as the stack trace has it, or relative to the project',
      ),
    /** From 1 on. */
    line: z.coerce.number().int().min(1).max(10_000_000),
  }),
  reply: sourceLines,
  errors: [404, 503],
});
