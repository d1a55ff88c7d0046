import { open, rm } from 'node:fs/promises';
import { renameOver } from '@millrace/platform';

/**
 * Writes runs page by page as NDJSON, readable only by the owner. The file appears only when it is complete. Returns the number of runs.
 */
export async function saveRuns(
  file: string,
  pages: AsyncIterable<readonly object[]>,
  onPage: (runs: number) => void,
): Promise<number> {
  const part = `${file}.part`;
  await rm(part, { force: true });
  const handle = await open(part, 'wx', 0o600);
  let runs = 0;
  try {
    for await (const page of pages) {
      await handle.write(page.map((run) => `${JSON.stringify(run)}\n`).join(''));
      onPage((runs += page.length));
    }
    await handle.sync();
    await handle.close();
    await renameOver(part, file);
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(part, { force: true });
    throw error;
  }
  return runs;
}
