import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { addressOf, bridgeAddress, members, servers } from '../network/nodes.ts';
import { until } from '../time.ts';
import { start, type Started } from './process.ts';

/** The settings of docs/postgresql.md. Servers are checked by /healthz, which does not depend on the database. */
const config = `
global
    maxconn 4000
defaults
    log stdout format raw local0 notice
    mode tcp
    timeout connect 4s
    timeout client 30m
    timeout server 30m
    timeout check 5s

listen postgres
    bind ${addressOf.proxy}:5000
    option httpchk OPTIONS /primary
    http-check expect status 200
    default-server inter 3s fall 3 rise 2 on-marked-down shutdown-sessions
${members.map((name) => `    server ${name} ${addressOf[name]}:5432 check port 8008`).join('\n')}

frontend api
    bind ${addressOf.proxy}:8080
    mode http
    timeout client 75s
    timeout http-keep-alive 60s
    default_backend millrace
backend millrace
    mode http
    balance leastconn
    option httpchk GET /healthz
    option redispatch
    option forwardfor
    timeout server 120s
    timeout tunnel 1h
${servers.map((name) => `    server ${name} ${addressOf[name]}:4400 check inter 2s fall 2 rise 1`).join('\n')}
`;

export const apiUrl = `http://${addressOf.proxy}:8080`;
export const databaseAddress = { host: addressOf.proxy, port: 5000 };
/** The range of all nodes, whose X-Forwarded-For servers trust. */
export const network = `${bridgeAddress}/24`;

export async function startHaproxy(folder: string): Promise<Started> {
  const file = join(folder, 'haproxy.cfg');
  await writeFile(file, config);
  const started = start(['haproxy', '-db', '-f', file], { node: 'proxy', name: 'haproxy', folder });
  // No server has started yet: any response means that HAProxy listens.
  await until('haproxy has started', 30, async () => (await fetch(apiUrl)).status > 0);
  return started;
}
