import { readableDuration } from '@millrace/contract/plain';
import { silentConnections } from '../../../db/watch.ts';
import type { ProcessCheck } from '../process-input.ts';

export const connectionsSilent: ProcessCheck = {
  name: 'connections-silent',
  condition: 'no connection of the server to PostgreSQL has become silent in the last 10 minutes',
  severity: 'warning',
  why: 'The host was gone, or a firewall or proxy dropped the connection without closing it. Requests that used it waited for up to 60 seconds, and got 503.',
  fix: 'After a failover, nothing: the server has opened new connections. If the number increases, check the network and the timeouts of firewalls and proxies in front of PostgreSQL: `millrace help postgresql`.',
  async find({ limits: { silenceMs } }) {
    const { total, recent, lastMs } = silentConnections(silenceMs);
    if (recent === 0) return [];
    return [
      {
        what: `Connections that became silent and were replaced: ${recent}, the last one ${readableDuration(lastMs)} ago; ${total} since the start of the server.`,
      },
    ];
  },
};
