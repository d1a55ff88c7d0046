import { execFileSync } from 'node:child_process';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createBrotliDecompress } from 'node:zlib';

const cache = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url));

/** The package that ships the browser. Its own unpacking is not used, because it has a fixed path in the system's temporary folder. */
const packageFolder = fileURLToPath(new URL('../../', import.meta.resolve('@sparticuz/chromium')));

const unpack = (file: string, to: string): Promise<void> =>
  pipeline(
    createReadStream(join(packageFolder, 'bin', file)),
    createBrotliDecompress(),
    createWriteStream(to),
  );

export interface Browser {
  readonly executablePath: string;
  /** Environment variables that it needs. */
  readonly env: Readonly<Record<string, string>>;
}

/** Unpacks the browser once per version, atomically: a killed test leaves no partial copy behind. */
async function unpacked(): Promise<Browser> {
  const { version } = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8')) as {
    version: string;
  };
  const folder = join(cache, `chromium-${version}`);
  if (!existsSync(folder)) {
    await mkdir(cache, { recursive: true });
    const half = await mkdtemp(`${folder}.`);
    const chromium = join(half, 'chromium');
    await unpack('chromium.br', chromium);
    await chmod(chromium, 0o755);
    // Libraries that it needs and that some systems lack: NSS, NSPR.
    await unpack('al2023.tar.br', join(half, 'libraries.tar'));
    execFileSync('tar', ['-xf', 'libraries.tar'], { cwd: half });
    await rename(half, folder).catch(async (error: unknown) => {
      await rm(half, { recursive: true, force: true });
      // Another test file finished first.
      if (!existsSync(folder)) throw error;
    });
  }
  const libraries = [join(folder, 'lib'), process.env['LD_LIBRARY_PATH']].filter(Boolean).join(':');
  return { executablePath: join(folder, 'chromium'), env: { LD_LIBRARY_PATH: libraries } };
}

function ofTheSystem(): Browser {
  try {
    return { executablePath: execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim(), env: {} };
  } catch {
    throw new Error(
      `npm has no Chromium for ${process.platform} ${process.arch}: install one, or set CHROMIUM to the path of one.`,
    );
  }
}

/** The Chromium in `CHROMIUM`, else the one that npm installed. Nothing is downloaded. */
export async function findBrowser(): Promise<Browser> {
  const { CHROMIUM } = process.env;
  if (CHROMIUM) return { executablePath: CHROMIUM, env: {} };
  return process.platform === 'linux' && process.arch === 'x64' ? unpacked() : ofTheSystem();
}

/** Playwright, for benchmarks, which have no packages of their own. */
export { chromium, type BrowserContext, type Page, type Request } from 'playwright-core';
