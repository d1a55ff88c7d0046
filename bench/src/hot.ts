/**
 * How processor time was spent, from the profiles that `--cpu-prof` left: µs a run, by function and by package.
 *
 *   npx node bench/src/hot.ts 20000 bench/profiles/server/*.cpuprofile
 */
import { readFileSync } from 'node:fs';

interface Profile {
  readonly nodes: readonly {
    readonly id: number;
    readonly callFrame: { readonly functionName: string; readonly url: string; readonly lineNumber: number };
  }[];
  readonly samples: readonly number[];
  readonly timeDeltas: readonly number[];
}

const maxRows = 30;
const [runs = '1', ...files] = process.argv.slice(2);

/** A path without what lies above the repository or the package. */
const shortened = (url: string): string =>
  url
    .replace(/^file:\/\//, '')
    .replace(/^.*\/node_modules\//, '')
    .replace(/^.*\/(?=packages\/)/, '') || '(engine)';

const packageOf = (url: string): string =>
  /^(packages\/[^/]+|@[^/]+\/[^/]+|node:[^/]+|[^/]+)/.exec(shortened(url))?.[1] ?? '(engine)';

for (const file of files) {
  const { nodes, samples, timeDeltas } = JSON.parse(readFileSync(file, 'utf8')) as Profile;
  const frames = new Map(nodes.map(({ id, callFrame }) => [id, callFrame]));
  const byFunction = new Map<string, number>();
  const byPackage = new Map<string, number>();
  for (const [i, id] of samples.entries()) {
    const frame = frames.get(id);
    if (!frame || frame.functionName === '(idle)') continue;
    const spent = (timeDeltas[i] ?? 0) / Number(runs);
    const name = `${frame.functionName || '(anonymous)'} ${shortened(frame.url)}:${frame.lineNumber + 1}`;
    byFunction.set(name, (byFunction.get(name) ?? 0) + spent);
    const origin = frame.url === '' ? frame.functionName : packageOf(frame.url);
    byPackage.set(origin, (byPackage.get(origin) ?? 0) + spent);
  }
  for (const [title, map] of [['by package', byPackage] as const, ['by function', byFunction] as const]) {
    console.log(`\n${file}, ${title}: µs a run`);
    const rows = [...map].toSorted(([, a], [, b]) => b - a).slice(0, title === 'by package' ? 14 : maxRows);
    for (const [name, spent] of rows) console.log(`${spent.toFixed(2).padStart(8)}  ${name}`);
  }
}
