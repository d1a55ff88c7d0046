import { readableDuration } from '@millrace/contract/plain';
import { Skipped } from '../check.ts';
import type { ProcessCheck } from '../process-input.ts';

export const jobsStuck: ProcessCheck = {
  name: 'jobs-stuck',
  condition: 'the background jobs of the server make progress',
  severity: 'error',
  why: "This server does not do the job's work. The metrics list the names of the jobs.",
  fix: 'The lines `job.failed` in the log of this server contain the reason. Restart the server; other servers do its work in the meantime.',
  async find({ jobs, acceptsWrites, limits: { stuckMs } }) {
    if (!acceptsWrites) throw new Skipped('the database does not accept writes');
    return jobs.states().flatMap(({ name, everyMs, silentMs, failures, failingMs }) => {
      // Some jobs wait longer than that between two ticks.
      if (silentMs > Math.max(stuckMs, 3 * everyMs))
        return [{ what: `The job "${name}" has not completed a tick for ${readableDuration(silentMs)}.` }];
      if (failures > 1 && failingMs > stuckMs)
        return [
          {
            what: `The job "${name}" has failed for ${readableDuration(failingMs)}, ${failures} times in a row.`,
          },
        ];
      return [];
    });
  },
};
