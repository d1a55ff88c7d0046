/** The machines of the suite. Each is a network namespace with one address on the bridge; the suite itself has the address of the bridge. */
export const bridgeAddress = '10.77.0.1';

export const members = ['db-a', 'db-b', 'db-c'] as const;
export const servers = ['server-1', 'server-2'] as const;
export const runners = ['runner-1', 'runner-2'] as const;

export type Member = (typeof members)[number];
export type Server = (typeof servers)[number];
export type Runner = (typeof runners)[number];
export type Node = Member | Server | Runner | 'etcd' | 'proxy' | 'pooler' | 'delay' | 'client';

export const addressOf: Readonly<Record<Node, string>> = {
  etcd: '10.77.0.2',
  proxy: '10.77.0.3',
  pooler: '10.77.0.4',
  delay: '10.77.0.5',
  'db-a': '10.77.0.11',
  'db-b': '10.77.0.12',
  'db-c': '10.77.0.13',
  'server-1': '10.77.0.21',
  'server-2': '10.77.0.22',
  'runner-1': '10.77.0.31',
  'runner-2': '10.77.0.32',
  client: '10.77.0.41',
};
export const nodes = Object.keys(addressOf) as Node[];
