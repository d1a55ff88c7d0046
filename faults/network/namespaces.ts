/**
 * The private network. The suite runs in namespaces of its own for network, mounts and processes (main.ts), so nothing of this is visible
 * outside, and everything disappears with the suite's first process, however it ends.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { systemPath } from '../prerequisites.ts';
import { addressOf, bridgeAddress, nodes, type Node } from './nodes.ts';

export function run(command: string, ...args: string[]): string {
  return execFileSync(command, args, { encoding: 'utf8', env: { ...process.env, PATH: systemPath } });
}

export const inNode = (node: Node): string[] => [`--net=/run/netns/${node}`, '--'];

/** The processes of a node. */
export const processesOf = (node: Node): number[] =>
  run('ip', 'netns', 'pids', node).split('\n').filter(Boolean).map(Number);

export function signal(node: Node, name: NodeJS.Signals): void {
  for (const pid of processesOf(node)) {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended since it was listed.
    }
  }
}

/** The device of the bridge that a node is connected to. */
export const linkOf = (node: Node): string => `to-${node}`;

export function createNetwork(): void {
  mkdirSync('/run/netns', { recursive: true });
  run('mount', '-t', 'tmpfs', 'netns', '/run/netns');
  run('ip', 'link', 'set', 'lo', 'up');
  run('ip', 'link', 'add', 'bridge', 'type', 'bridge');
  run('ip', 'address', 'add', `${bridgeAddress}/24`, 'dev', 'bridge');
  run('ip', 'link', 'set', 'bridge', 'up');
  for (const node of nodes) {
    run('ip', 'netns', 'add', node);
    run('ip', 'link', 'add', linkOf(node), 'type', 'veth', 'peer', 'name', 'eth0', 'netns', node);
    run('ip', 'link', 'set', linkOf(node), 'master', 'bridge', 'up');
    const own = ['-n', node];
    run('ip', ...own, 'link', 'set', 'lo', 'up');
    run('ip', ...own, 'address', 'add', `${addressOf[node]}/24`, 'dev', 'eth0');
    run('ip', ...own, 'link', 'set', 'eth0', 'up');
    filter(
      node,
      'add table ip faults; add chain ip faults input { type filter hook input priority 0; policy accept; }',
    );
  }
}

/** Changes the packet filter of a node. */
export const filter = (node: Node, commands: string): void =>
  void run('nsenter', ...inNode(node), 'nft', commands);
