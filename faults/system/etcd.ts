import { join } from 'node:path';
import { addressOf } from '../network/nodes.ts';
import { until } from '../time.ts';
import { start } from './process.ts';

const url = `http://${addressOf.etcd}:2379`;

export async function startEtcd(folder: string): Promise<void> {
  const options = {
    'data-dir': join(folder, 'etcd'),
    'listen-client-urls': url,
    'advertise-client-urls': url,
    'listen-peer-urls': `http://${addressOf.etcd}:2380`,
  };
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
  start(['etcd', ...args], { node: 'etcd', name: 'etcd', folder });
  await until('etcd has started', 30, async () => (await fetch(`${url}/health`)).ok);
}
