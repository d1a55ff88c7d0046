import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { finishSwap, isSwapping, swapClusters } from './swap.ts';
import { createTemporaryFolder } from './testing/folders.ts';

const swap = { draft: 'upgrade.new-1', oldCluster: 'postgres.17-kept' };

function dataFolder(): string {
  const folder = createTemporaryFolder();
  for (const [cluster, version] of [
    ['postgres', '17'],
    ['upgrade.new-1/postgres', '18'],
  ] as const) {
    mkdirSync(join(folder, cluster), { recursive: true });
    writeFileSync(join(folder, cluster, 'PG_VERSION'), version);
  }
  return folder;
}

const stateOf = (folder: string) => ({
  names: readdirSync(folder).toSorted(),
  versions: ['postgres', 'postgres.17-kept'].map((name) =>
    readFileSync(join(folder, name, 'PG_VERSION'), 'utf8'),
  ),
});
const done = { names: ['postgres', 'postgres.17-kept'], versions: ['18', '17'] };

test('swaps the clusters and removes the draft and the marker', async () => {
  const folder = dataFolder();
  await swapClusters(folder, swap);
  expect(stateOf(folder)).toEqual(done);
  expect(isSwapping(folder)).toBe(false);
});

const steps: Readonly<Record<string, (folder: string) => void>> = {
  'the marker was written': () => {},
  'the old cluster was moved away': (folder) =>
    renameSync(join(folder, 'postgres'), join(folder, swap.oldCluster)),
  'the new cluster was moved too': (folder) => {
    renameSync(join(folder, 'postgres'), join(folder, swap.oldCluster));
    renameSync(join(folder, swap.draft, 'postgres'), join(folder, 'postgres'));
  },
};

test.each(Object.entries(steps))(
  'the next process finishes a swap whose process died when %s',
  async (_, act) => {
    const folder = dataFolder();
    writeFileSync(join(folder, 'upgrade.json'), JSON.stringify(swap));
    act(folder);
    expect(isSwapping(folder)).toBe(true);
    await finishSwap(folder);
    expect(stateOf(folder)).toEqual(done);
    await finishSwap(folder);
    expect(stateOf(folder)).toEqual(done);
  },
);

test('a process that dies before the marker is complete changes nothing', async () => {
  const folder = dataFolder();
  writeFileSync(join(folder, 'upgrade.json.new'), '{ "draft": "upgr');
  await finishSwap(folder);
  expect(readFileSync(join(folder, 'postgres/PG_VERSION'), 'utf8')).toBe('17');
  expect(existsSync(join(folder, swap.oldCluster))).toBe(false);
});
