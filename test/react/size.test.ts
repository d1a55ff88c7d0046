/** The size of the hooks in the bundle of a page, which docs/react.md shows. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { repository } from '../cli/command.ts';

const page = join(repository, 'docs/react.md');

/** The code that imports these hooks, minified, without React. */
async function bundled(names: string): Promise<Uint8Array> {
  const { outputFiles } = await build({
    stdin: {
      contents: `export ${names} from '@millrace/react';`,
      resolveDir: join(repository, 'packages/react'),
    },
    bundle: true,
    minify: true,
    write: false,
    format: 'esm',
    platform: 'browser',
    external: ['react'],
    tsconfigRaw: {},
    logLevel: 'error',
  });
  return outputFiles[0]?.contents ?? new Uint8Array();
}

const kilobytes = (code: Uint8Array): number => Math.ceil(gzipSync(code).length / 1_000);

describe('the bundle of a page', () => {
  test('has the size that the documentation shows', async () => {
    const [single, all] = await Promise.all(['{ useRealtimeRun }', '*'].map(bundled));
    const text = await readFile(page, 'utf8');
    const updated = text
      .replace(/(?<=\| `useRealtimeRun` \| )\d+(?= kB)/, String(kilobytes(single!)))
      .replace(/(?<=\| all hooks \| )\d+(?= kB)/, String(kilobytes(all!)));
    await expect(updated).toMatchFileSnapshot(page);
    expect(kilobytes(single!)).toBeLessThan(kilobytes(all!));
  });

  test('contains neither the part of the SDK that declares tasks nor hooks that the page does not import', async () => {
    const [single, all] = await Promise.all(['{ useRealtimeRun }', '*'].map(bundled));
    const text = (code: Uint8Array | undefined): string => new TextDecoder().decode(code);
    const ofRequests = 'revalidateOnFocus';
    expect(text(all)).toContain(ofRequests);
    expect(text(single)).toContain('last-event-id');
    expect(text(single)).not.toContain(ofRequests);
    for (const code of [single, all])
      expect(text(code)).not.toMatch(/@millrace\/sdk\/task|["'`]node:(?!async_hooks)/);
  });

  test('begins with the directive of client components', async () => {
    const entry = await readFile(join(repository, 'packages/react/dist/index.js'), 'utf8');
    expect(entry).toMatch(/^["']use client["'];/);
  });
});
