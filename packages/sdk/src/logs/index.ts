import { follow } from './follow.ts';
import { search } from './search.ts';

/** Log lines of all runs: search and follow them. For a single run, use `runs.logs` and `runs.followLogs`. */
export const logs = { search, follow };
