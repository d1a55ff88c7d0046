import { once } from 'node:events';
import { connect } from 'node:tls';
import { Skipped } from '@millrace/server';
import type { ServerCheck } from './input.ts';

const minDays = 14;
const dayMs = 86_400_000;

export const certificate: ServerCheck = {
  name: 'certificate',
  condition: `the certificate of the address is valid for at least ${minDays} days`,
  severity: 'warning',
  why: 'After it expires, clients and runners cannot connect.',
  fix: 'Renew it, and find out why it was not renewed automatically: `certbot renew`, or the log of Caddy.',
  async find({ url }) {
    const { protocol, hostname, port } = new URL(url);
    if (protocol !== 'https:') throw new Skipped('the address does not use TLS');
    const socket = connect({
      host: hostname.replace(/^\[|\]$/g, ''),
      port: Number(port || 443),
      servername: /^[\d.]+$|:/.test(hostname) ? '' : hostname,
      // Only its expiration is read here. Requests verify it.
      rejectUnauthorized: false,
    });
    try {
      await once(socket, 'secureConnect', { signal: AbortSignal.timeout(8_000) });
      const end = new Date(socket.getPeerCertificate().valid_to);
      const days = Math.floor((end.getTime() - Date.now()) / dayMs);
      return days < minDays
        ? [{ what: `The certificate expires in ${days} days, at ${end.toISOString()}.` }]
        : [];
    } finally {
      socket.destroy();
    }
  },
};
