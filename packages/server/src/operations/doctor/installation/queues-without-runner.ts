import { readableDuration } from '@millrace/contract/plain';
import { readSample } from '../../../telemetry/stats/sample.ts';
import { Skipped } from '../check.ts';
import { environmentName, needServer, type DatabaseCheck } from '../database-input.ts';

/** The sample of a large installation may be a minute old. */
const maxAgeMs = 300_000;

export const queuesWithoutRunner: DatabaseCheck = {
  name: 'queues-without-runner',
  condition: 'environments with waiting runs have a runner, except dev',
  severity: 'error',
  why: 'The runs wait until a runner for their environment connects.',
  fix: 'Start one: `MILLRACE_SECRET_KEY=<key of the environment> millrace work`. `millrace why <run>` shows the reason for a single run.',
  async find(input) {
    needServer(input);
    const { sql, limits } = input;
    const [clock] = await sql<{ now: number }[]>`select (extract(epoch from now()) * 1000)::float8 as now`;
    const sample = await readSample(sql, { now: () => clock?.now ?? 0 });
    if (!sample || sample.ageMs > maxAgeMs)
      throw new Skipped('the servers have not counted the waiting runs yet');
    return sample.environments.flatMap((environment) => {
      const { env, kind } = environment;
      const waiting = sample.queues.filter(
        (queue) => queue.env === env && queue.state === 'ready' && queue.oldestMs > limits.lateMs,
      );
      const slots = sample.pools
        .filter((pool) => pool.env === env)
        .reduce((sum, pool) => sum + pool.slots, 0);
      if (kind === 'dev' || waiting.length === 0 || slots > 0) return [];
      const count = waiting.reduce((sum, queue) => sum + queue.waiting, 0);
      const oldest = readableDuration(Math.max(...waiting.map(({ oldestMs }) => oldestMs)));
      const names = waiting.slice(0, 3).map(({ queue }) => queue);
      return [
        {
          what:
            `${count} runs wait in ${environmentName(environment)} (${names.join(', ')}${waiting.length > 3 ? ', …' : ''}), ` +
            `the first one for ${oldest}, and no runner is connected.`,
        },
      ];
    });
  },
};
