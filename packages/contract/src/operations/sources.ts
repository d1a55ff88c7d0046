import { z } from 'zod';
import { operation } from '../operation.ts';

/** Number of lines before and after the requested one. */
export const linesAround = 5;
/** Maximum number of characters shown of a line. */
export const maxSourceLine = 500;

export const sourceLines = z.object({
  version: z.string(),
  /** Its path relative to the project, such as `src/orders.ts`; null if there are no lines. */
  file: z.string().nullable(),
  /** The requested line, with up to five before and after it, each truncated to 500 characters. */
  lines: z.array(z.object({ number: z.number().int(), text: z.string() })),
  /** The reason why there are no lines; null if there are lines. */
  note: z.string().nullable(),
});
export type SourceLines = z.infer<typeof sourceLines>;

export const retrieveSource = operation({
  id: 'retrieveSource',
  method: 'GET',
  path: '/api/v1/deployments/:version/source',
  tag: 'deployments',
  summary:
    'Retrieve the lines around a position in the source of a version, such as a frame of a stack trace',
  access: { secretKey: true, action: 'read', on: 'sources', forbidsRuns: true },
  params: z.object({ version: z.string().min(1).max(128) }),
  query: z.object({
    /** As in a stack trace, or relative to the project. */
    file: z
      .string()
      .min(1)
      .max(2_048)
      .refine((text) => !text.includes('\0'), 'must not contain a NUL character')
      .refine(
        (text) => text.split(/[/\\]/).every((part) => part !== '.' && part !== '..'),
        'must not have . or .. as a part; send the path from the stack trace, or relative to the project',
      ),
    /** Starts at 1. */
    line: z.coerce.number().int().min(1).max(10_000_000),
  }),
  reply: sourceLines,
  errors: [404, 503],
});
