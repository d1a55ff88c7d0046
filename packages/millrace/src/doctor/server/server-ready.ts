import type { ServerCheck } from './input.ts';

export const serverReady: ServerCheck = {
  name: 'server-ready',
  condition: 'the server is ready: it can reach its database',
  severity: 'error',
  why: 'Load balancers send it no requests. All requests that need the database fail.',
  fix: 'Check PostgreSQL, and the network between the server and PostgreSQL. The server then becomes ready again automatically.',
  async find({ url }) {
    const response = await fetch(`${url}/readyz`);
    const body = (await response.json().catch(() => ({}))) as { error?: string };
    return response.ok
      ? []
      : [{ what: `/readyz has status ${response.status}: ${body.error ?? 'no reason'}` }];
  },
};
