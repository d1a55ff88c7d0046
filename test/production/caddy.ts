/** Settings that Caddy needs in addition to its Caddyfile on a machine that it shares. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { expect, onTestFinished } from 'vitest';

export interface CaddyPorts {
  readonly http: number;
  readonly https: number;
}

/** Global options at the top of a Caddyfile: ports other than 80 and 443, no admin endpoint, and no installed certificates. */
export const caddyHead = ({ http, https }: CaddyPorts): string => `{
	admin off
	skip_install_trust
	http_port ${http}
	https_port ${https}
}
`;

/** The root certificate of Caddy's own authority, in XDG_DATA_HOME. */
export const authorityIn = (data: string): string => join(data, 'caddy/pki/authorities/local/root.crt');

/** Makes this process trust Caddy's authority until the test ends and waits until a server responds through Caddy. */
export async function trustCaddy(data: string, url: string): Promise<void> {
  const authority = () => readFile(authorityIn(data), 'utf8').catch(() => '');
  await expect.poll(authority, { timeout: 60_000 }).toContain('END CERTIFICATE');
  const before = getCACertificates('default');
  setDefaultCACertificates([...before, await authority()]);
  onTestFinished(() => setDefaultCACertificates(before));
  await expect
    .poll(() => fetch(`${url}/readyz`).then(({ status }) => status, String), { timeout: 60_000 })
    .toBe(200);
}
