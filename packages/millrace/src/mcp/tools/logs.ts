import { z } from 'zod';
import { reads } from '../tool.ts';
import { afterInput, limitOf, nextOutput, runInput } from './views.ts';

const levels = ['debug', 'info', 'log', 'warn', 'error'] as const;

export const readLogs = reads({
  name: 'read_logs',
  title: 'Read logs',
  description:
    'Returns the log lines of one run, oldest first; or, without `run`, of all runs, newest first. Filters must all match.',
  input: {
    run: runInput.optional(),
    task: z.string().max(128).optional().describe('Filter by task ID; only without `run`.'),
    level: z.array(z.enum(levels)).optional(),
    text: z
      .string()
      .min(1)
      .max(256)
      .optional()
      .describe('Text in the message or the properties (case-insensitive).'),
    period: z
      .string()
      .optional()
      .describe(
        'Written within this period, such as 30m or 2h; only without `run`. Default: all stored lines.',
      ),
    limit: limitOf(200, 50),
    after: afterInput,
  },
  output: { lines: z.array(z.looseObject({ at: z.string(), message: z.string() })), next: nextOutput },
  rest: 'Request fewer lines with `limit`, or filter with `text` and `level`.',
  async read({ run, task, level, text, period, limit, after }, { client }) {
    const filter = { ...(level && { level }), ...(text !== undefined && { text }), limit };
    const cursor = after === undefined ? {} : { after };
    const page =
      run === undefined
        ? await client.logs.search({
            ...filter,
            ...cursor,
            ...(task !== undefined && { task }),
            ...(period !== undefined && { period }),
          })
        : await client.runs.logs(run, { ...filter, ...cursor });
    return { lines: page.data, ...(page.next !== undefined && { next: page.next }) };
  },
});
