import { MillraceClient } from '@millrace/sdk';
import type * as tasks from './tasks/index.ts';

/** Finds the server by MILLRACE_API_URL and MILLRACE_SECRET_KEY. */
export const millrace = new MillraceClient<typeof tasks>();
