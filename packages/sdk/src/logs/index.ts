import { follow } from './follow.ts';
import { search } from './search.ts';

/** Log lines of all runs: search and follow them. `runs.logs` and `runs.followLogs` have those of one run. */
export const logs = { search, follow };
