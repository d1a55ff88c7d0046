import { Skipped } from '@millrace/server';
import type { ServerCheck } from './input.ts';

export const proxyBuffering: ServerCheck = {
  name: 'proxy-buffering',
  condition: 'event streams arrive without delay',
  severity: 'error',
  why: 'A proxy buffers responses. Subscriptions, logs and streams arrive late or never.',
  fix: 'nginx: `proxy_buffering off; proxy_cache off; gzip off;`, and no `proxy_ignore_headers X-Accel-Buffering`. Content delivery networks: no caching and no compression for `text/event-stream`.',
  async find({ url, key, maxSilenceMs }) {
    if (key === undefined) throw new Skipped('this check requires a secret key: set MILLRACE_SECRET_KEY');
    const abort = new AbortController();
    const timer = setTimeout(() => abort.abort(), maxSilenceMs);
    try {
      const response = await fetch(`${url}/realtime/v1/logs/events`, {
        headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
        signal: abort.signal,
      });
      if (response.status === 401 || response.status === 403 || response.status === 400)
        throw new Skipped(`the server rejected the secret key (${response.status})`);
      if (!response.ok) return [{ what: `An event stream has status ${response.status}.` }];
      await response.body?.getReader().read();
      return [];
    } catch (error) {
      if (!abort.signal.aborted) throw error;
      return [{ what: `No data of an event stream arrived within ${maxSilenceMs / 1_000} s.` }];
    } finally {
      clearTimeout(timer);
      abort.abort();
    }
  },
};
