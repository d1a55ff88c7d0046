/** Faults of the network. Each returns a function that ends it. */
import { filter, linkOf, run } from './namespaces.ts';
import { addressOf, type Node } from './nodes.ts';

type End = () => void;

/** Disconnects a node from the bridge: packets disappear, and the node's own link stays up. */
export function cutOff(node: Node): End {
  run('ip', 'link', 'set', linkOf(node), 'nomaster');
  return () => void run('ip', 'link', 'set', linkOf(node), 'master', 'bridge');
}

/** Drops all packets between two nodes without a reply, in both directions; with `port`, only those from and to that port of `b`. */
export function separate(a: Node, b: Node, port?: number): End {
  if (port === undefined) return between(a, b, 'drop');
  filter(a, `add rule ip faults input ip saddr ${addressOf[b]} tcp sport ${port} drop`);
  filter(b, `add rule ip faults input ip saddr ${addressOf[a]} tcp dport ${port} drop`);
  return () => pass(a, b);
}

/** Drops packets at random. */
export const loseSome = (a: Node, b: Node, percent: number): End =>
  between(a, b, `numgen random mod 100 < ${percent} drop`);

/** Resets every connection that sends something. */
export const reset = (a: Node, b: Node): End => between(a, b, 'reject with tcp reset', 'meta l4proto tcp');

function between(a: Node, b: Node, verdict: string, match = ''): End {
  for (const [at, from] of [
    [a, b],
    [b, a],
  ] as const)
    filter(at, `add rule ip faults input ip saddr ${addressOf[from]} ${match} ${verdict}`);
  return () => pass(a, b);
}

function pass(...nodes: readonly Node[]): void {
  for (const node of nodes) filter(node, 'flush chain ip faults input');
}
