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
export const separate = (a: Node, b: Node, port?: number): End => between(a, b, 'drop', port);

/** Drops packets at random. */
export const loseSome = (a: Node, b: Node, percent: number): End =>
  between(a, b, `numgen random mod 100 < ${percent} drop`);

/** Resets every connection to a port of `b` that sends something. */
export const reset = (a: Node, b: Node, port: number): End => between(a, b, 'reject with tcp reset', port);

function between(a: Node, b: Node, verdict: string, port?: number): End {
  const match = (direction: string): string => (port === undefined ? '' : `tcp ${direction} ${port}`);
  filter(a, `add rule ip faults input ip saddr ${addressOf[b]} ${match('sport')} ${verdict}`);
  filter(b, `add rule ip faults input ip saddr ${addressOf[a]} ${match('dport')} ${verdict}`);
  return () => {
    for (const node of [a, b]) filter(node, 'flush chain ip faults input');
  };
}
