import { needTables, type DatabaseCheck } from '../database-input.ts';

export const paused: DatabaseCheck = {
  name: 'paused',
  looksAt: 'the installation is not paused',
  severity: 'warning',
  why: 'No run is started and no schedule fires, on all servers.',
  fix: '`millrace resume`. Remove `--paused` and `MILLRACE_PAUSED` from the definition of the service first.',
  async find(input) {
    needTables(input);
    const [row] = await input.sql<{ since: Date }[]>`
      select paused_at as since from installation where paused_at is not null`;
    return row ? [{ what: `The installation is paused since ${row.since.toISOString()}.` }] : [];
  },
};
