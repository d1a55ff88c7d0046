import { needTables, type DatabaseCheck } from '../database-input.ts';

export const paused: DatabaseCheck = {
  name: 'paused',
  condition: 'the installation is not paused',
  severity: 'warning',
  why: 'On all servers, no run starts and no schedule fires.',
  fix: '`millrace resume`. First remove `--paused` and `MILLRACE_PAUSED` from the service definition.',
  async find(input) {
    needTables(input);
    const [row] = await input.sql<{ since: Date }[]>`
      select paused_at as since from installation where paused_at is not null`;
    return row ? [{ what: `The installation has been paused since ${row.since.toISOString()}.` }] : [];
  },
};
