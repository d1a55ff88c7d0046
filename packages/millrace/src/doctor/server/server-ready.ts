import type { ServerCheck } from './input.ts';

export const serverReady: ServerCheck = {
  name: 'server-ready',
  looksAt: 'the server is ready: it has its database',
  severity: 'error',
  why: 'A load balancer sends it no requests. Every request that needs the database fails.',
  fix: 'Look at PostgreSQL, and at the way from the server to it. The server is ready again by itself.',
  async find({ url }) {
    const response = await fetch(`${url}/readyz`);
    const body = (await response.json().catch(() => ({}))) as { error?: string };
    return response.ok
      ? []
      : [{ what: `/readyz has status ${response.status}: ${body.error ?? 'no reason'}` }];
  },
};
