import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

export interface Import {
  readonly from: string;
  /** The import, verbatim. */
  readonly to: string;
  readonly isType: boolean;
}

const statement = /^(?:import|export)\s+(?<type>type\s+)?[^'"`;]*?\bfrom\s+'(?<to>[^']+)'/gm;
const bare = /(?<!['/\w])import\s*\(?\s*'(?<to>[^']+)'/g;

/** The imports of every file below a folder, types included. Tests and their helpers are left out. */
export function importsBelow(folder: string): Import[] {
  return (
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /(?<!\.test)\.tsx?$/.test(entry.name))
      .map((entry) => join(entry.parentPath, entry.name))
      // Only below the folder, because one package is itself called testing.
      .filter((file) => !/(?:^|\/)(?:testing|corpus)\//.test(relative(folder, file)))
      .flatMap((from) => {
        const text = readFileSync(from, 'utf8');
        return [...text.matchAll(statement), ...text.matchAll(bare)].map(({ groups }) => ({
          from,
          to: groups?.['to'] as string,
          isType: groups?.['type'] !== undefined,
        }));
      })
  );
}

/** For each file, the files that it imports by a relative path. */
export type ImportGraph = ReadonlyMap<string, ReadonlySet<string>>;

export function graphOf(imports: readonly Import[]): ImportGraph {
  const graph = new Map<string, Set<string>>();
  for (const { from, to } of imports) {
    const targets = graph.get(from) ?? new Set<string>();
    graph.set(from, targets);
    if (to.startsWith('.')) targets.add(resolve(dirname(from), to));
  }
  return graph;
}

/** The nodes that can be reached from a node, itself included only if it is on a circle. */
export function reachableFrom(graph: ImportGraph, start: string): Set<string> {
  const found = new Set<string>();
  const open = [start];
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    for (const next of graph.get(node) ?? []) {
      if (found.has(next)) continue;
      found.add(next);
      open.push(next);
    }
  }
  return found;
}

/** Groups of nodes that can reach each other. */
export function circlesIn(graph: ImportGraph): string[][] {
  const reached = new Map([...graph.keys()].map((node) => [node, reachableFrom(graph, node)]));
  const circles = new Map<string, string[]>();
  for (const [node, others] of reached) {
    if (!others.has(node)) continue;
    const members = [...others].filter((other) => reached.get(other)?.has(node)).toSorted();
    circles.set(members.join(), members);
  }
  return [...circles.values()];
}

/** The nodes on all paths from one node to another, both included. */
export function between(graph: ImportGraph, from: string, to: string): string[] {
  const after = reachableFrom(graph, from).add(from);
  return [...after].filter((node) => node === to || reachableFrom(graph, node).has(to)).toSorted();
}
