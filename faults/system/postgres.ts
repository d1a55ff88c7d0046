/** Three PostgreSQL under Patroni. */
import { chownSync, mkdirSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from '../network/namespaces.ts';
import { addressOf, members, type Member } from '../network/nodes.ts';
import { postgresPrograms } from '../prerequisites.ts';
import { until } from '../time.ts';
import { start } from './process.ts';

export const password = 'faults';
/** Large enough for the data and the WAL that Patroni retains, and small enough for memory. */
const diskSize = '700m';

const configOf = (name: Member, folder: string): string => `
scope: millrace
name: ${name}
restapi: { listen: "${addressOf[name]}:8008", connect_address: "${addressOf[name]}:8008" }
etcd3: { hosts: "${addressOf.etcd}:2379" }
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 5
    retry_timeout: 5
    maximum_lag_on_failover: 1048576
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      parameters:
        max_connections: 200
        wal_level: replica
        hot_standby: "on"
        wal_keep_size: 64MB
        max_wal_size: 128MB
        max_wal_senders: 10
        max_replication_slots: 10
        wal_log_hints: "on"
        shared_buffers: 128MB
        client_connection_check_interval: 5s
        tcp_keepalives_idle: 10s
        tcp_keepalives_interval: 5s
        tcp_keepalives_count: 3
        tcp_user_timeout: 20s
  initdb: [{ encoding: UTF8 }, data-checksums, { locale: C.UTF-8 }]
  pg_hba:
    - host all all 0.0.0.0/0 scram-sha-256
    - host replication all 0.0.0.0/0 scram-sha-256
    - local all all trust
postgresql:
  listen: "${addressOf[name]}:5432"
  connect_address: "${addressOf[name]}:5432"
  data_dir: ${join(folder, name, 'data')}
  bin_dir: ${programsOf(folder, name)}
  authentication:
    replication: { username: replicator, password: ${password} }
    superuser: { username: postgres, password: ${password} }
    rewind: { username: rewinder, password: ${password} }
  parameters: { unix_socket_directories: "${join(folder, name)}" }
`;

/** The programs of PostgreSQL as a member finds them. Its `postgres` is started with the variables of `restartMember`. */
const programsOf = (folder: string, name: Member): string => join(folder, `${name}-programs`);
const variablesFile = (folder: string, name: Member): string => join(programsOf(folder, name), 'variables');

function createPrograms(folder: string, name: Member): void {
  const programs = postgresPrograms ?? '';
  mkdirSync(programsOf(folder, name));
  writeVariables(folder, name, {});
  for (const program of readdirSync(programs).filter((each) => each !== 'postgres'))
    symlinkSync(join(programs, program), join(programsOf(folder, name), program));
  const script = `#!/bin/sh\nexec env $(cat ${variablesFile(folder, name)}) ${join(programs, 'postgres')} "$@"\n`;
  writeFileSync(join(programsOf(folder, name), 'postgres'), script, { mode: 0o755 });
}

function writeVariables(folder: string, name: Member, env: Readonly<Record<string, string>>): void {
  const lines = Object.entries(env).map((entry) => `${entry.join('=')}\n`);
  writeFileSync(variablesFile(folder, name), lines.join(''));
}

const userOf = (flag: string): number => Number(run('id', flag, 'postgres').trim());
const configFile = (folder: string, name: Member): string => join(folder, `${name}.yml`);
/** The folder of a member, a file system of its own that a scenario can fill. */
export const diskOf = (folder: string, name: Member): string => join(folder, name);

export function createMembers(folder: string): void {
  for (const name of members) {
    const disk = diskOf(folder, name);
    mkdirSync(disk, { recursive: true });
    run('mount', '-t', 'tmpfs', '-o', `size=${diskSize}`, name, disk);
    chownSync(disk, userOf('-u'), userOf('-g'));
    createPrograms(folder, name);
    writeFileSync(configFile(folder, name), configOf(name, folder));
  }
}

export function startMember(folder: string, name: Member): void {
  const cwd = diskOf(folder, name);
  const options = { node: name, name, folder, user: 'postgres', cwd, env: { HOME: cwd } };
  start(['patroni', configFile(folder, name)], options);
}

interface MemberState {
  readonly role?: string;
  readonly state?: string;
  readonly sync_standby?: boolean;
}

/** The answer of a member's Patroni; undefined without one. */
export async function stateOf(name: Member): Promise<MemberState | undefined> {
  try {
    const response = await fetch(`http://${addressOf[name]}:8008/patroni`, {
      signal: AbortSignal.timeout(2_000),
    });
    return (await response.json()) as MemberState;
  } catch {
    return undefined;
  }
}

const answers = async (name: Member, path: string): Promise<boolean> => {
  const options = { signal: AbortSignal.timeout(2_000) };
  return fetch(`http://${addressOf[name]}:8008/${path}`, options).then(
    ({ status }) => status === 200,
    () => false,
  );
};

/** The member that holds the leader lock. */
export async function leader(): Promise<Member | undefined> {
  const leading = await Promise.all(members.map((name) => answers(name, 'primary')));
  return members.find((_, index) => leading[index]);
}

export async function synchronousStandby(): Promise<Member | undefined> {
  const standing = await Promise.all(members.map((name) => answers(name, 'synchronous')));
  return members.find((_, index) => standing[index]);
}

/** Waits until there are a leader, a synchronous standby and another standby. */
export const allMembersReady = (): Promise<Member> =>
  until('all members of the cluster run', 180, async () => {
    const states = await Promise.all(members.map(stateOf));
    const leading = await leader();
    const ready = states.every((state) => state?.state === 'running' || state?.state === 'streaming');
    return ready && (await synchronousStandby()) !== undefined && leading;
  });

// By HTTP, because the options of `patronictl` differ among its versions.
async function order(name: Member, command: 'switchover' | 'restart', body: object): Promise<void> {
  const response = await fetch(`http://${addressOf[name]}:8008/${command}`, {
    method: 'POST',
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(60_000),
  });
  if (!response.ok)
    throw new Error(`Patroni of ${name}, ${command}: ${response.status} ${await response.text()}`);
}

export const switchover = (from: Member, to: Member): Promise<void> =>
  order(from, 'switchover', { leader: from, candidate: to });

/** Restarts the PostgreSQL of a member with these variables. */
export async function restartMember(
  folder: string,
  name: Member,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  writeVariables(folder, name, env);
  await order(name, 'restart', {});
}
