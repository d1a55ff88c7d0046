import { lstat, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { inParallel } from '@millrace/platform';

/** Number of files that are checked concurrently. */
const atOnce = 16;

async function markOf(file: string): Promise<string> {
  try {
    const { size, mtimeMs, ctimeMs } = await lstat(file);
    return `${size} ${mtimeMs} ${ctimeMs}`;
  } catch {
    return 'not there';
  }
}

/**
 * File system metadata of the files in a folder: their sizes and modification times. A file that is lost, replaced or modified has a
 * different mark; no content is read. Files that are added later are ignored, because tasks may write into their working folder.
 */
export class Marks {
  readonly #marks: ReadonlyMap<string, string>;

  private constructor(marks: ReadonlyMap<string, string>) {
    this.#marks = marks;
  }

  static async of(folder: string): Promise<Marks> {
    const entries = await readdir(folder, { withFileTypes: true, recursive: true });
    const marks = new Map<string, string>();
    await inParallel(
      entries.filter((entry) => !entry.isDirectory()),
      atOnce,
      async ({ parentPath, name }) => {
        const file = join(parentPath, name);
        marks.set(file.slice(folder.length + 1), await markOf(file));
      },
    );
    return new Marks(marks);
  }

  /** Whether all files of the folder, which may have been renamed, still have their marks. */
  async hold(folder: string): Promise<boolean> {
    let same = true;
    await inParallel([...this.#marks], atOnce, async ([path, mark]) => {
      if (same && (await markOf(join(folder, path))) !== mark) same = false;
    });
    return same;
  }
}
