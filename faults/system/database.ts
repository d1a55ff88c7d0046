/** How servers connect to the database. */
import { addressOf, members } from '../network/nodes.ts';
import { databaseAddress } from './haproxy.ts';
import { password } from './postgres.ts';

/**
 * `haproxy`: one address, which HAProxy leads to the leader. `hosts`: all members in the address. `name`: a name in /etc/hosts, which the suite
 * changes after a failover. `pooler`: PgBouncer in front of HAProxy. `delay`: our proxy in front of HAProxy, which delays all bytes.
 */
export const routes = ['haproxy', 'hosts', 'name', 'pooler', 'delay'] as const;
export type Route = (typeof routes)[number];

/** The name of the database for the route `name`. */
export const databaseName = 'database.faults.test';

const url = (address: string, query = ''): string =>
  `postgresql://millrace:${password}@${address}/millrace${query}`;
const throughHaproxy = url(`${databaseAddress.host}:${databaseAddress.port}`);

export const databaseUrlOf: Readonly<Record<Route, string>> = {
  haproxy: throughHaproxy,
  hosts: url(members.map((name) => addressOf[name]).join(','), '?target_session_attrs=read-write'),
  name: url(`${databaseName}:5432`),
  pooler: url(`${addressOf.pooler}:6432`),
  delay: url(`${addressOf.delay}:5000`),
};

/** The variables of a server on a route. */
export const databaseVariables = (route: Route): Record<string, string> => ({
  DATABASE_URL: databaseUrlOf[route],
  ...(route === 'pooler' && { DATABASE_DIRECT_URL: throughHaproxy }),
});
