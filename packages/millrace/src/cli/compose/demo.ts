import { join } from 'node:path';
import { createLog, loadMasterKey, type RunningServer } from '@millrace/server';
import { configure } from '@millrace/sdk';
import { readableDuration } from '@millrace/contract/plain';
import { startRunner } from '@millrace/runner';
import { version } from '@millrace/platform';
import { calm } from '../../demo/calm.ts';
import { fill, setUp, type OldVersions } from '../../demo/fill.ts';
import { openDemoFolder, type DemoFolder } from '../../demo/folder.ts';
import { orderNumbers } from '../../demo/orders.ts';
import { randomOf } from '../../demo/random.ts';
import { prepareReleases } from '../../demo/seed/releases.ts';
import { setAddresses } from '../../demo/seed/variables.ts';
import { startServices } from '../../demo/services/start.ts';
import type { Shop } from '../../demo/shop.ts';
import { summarise, type Summary } from '../../demo/summary.ts';
import { keepMoving } from '../../demo/traffic.ts';
import { CommandFailed, exitCodes } from '../exit-codes.ts';
import { ownDev } from '../running-dev.ts';
import { printJson, screenOn, type Screen } from '../screen.ts';
import { listenForStop, type StopRequest } from '../stop-request.ts';
import { type Cleanup, withCleanup } from './cleanup.ts';
import { credentialsJson } from './credentials.ts';
import { dashboardAddress } from './dashboard-address.ts';
import { embeddedDatabase } from './open-database.ts';
import { openServer } from './open-server.ts';
import { printWarnings } from './print-warnings.ts';

export interface DemoOptions {
  readonly port: number;
  readonly data?: string;
  /** Orders per minute. */
  readonly rate: number;
  readonly seed: number;
  readonly once?: boolean;
  readonly json?: boolean;
  readonly verbose?: boolean;
}

/** How long the command waits for the shop to process its initial work, in milliseconds. */
const maxCalmMs = { once: 60_000, moving: 8_000 };

/** Fills a shop and keeps it active until stopped. */
export async function demo(options: DemoOptions): Promise<void> {
  const startedAt = performance.now();
  const isJson = options.json || options.once;
  const screen = screenOn(isJson ? process.stderr : process.stdout);
  const { line, paint } = screen;
  const stopping = new AbortController();
  const { signal } = stopping;
  const stop = listenForStop(() => {
    stopping.abort();
    line('Stopping. Press Ctrl-C again to stop immediately.');
  });
  const onStep = (step: string): void => {
    signal.throwIfAborted();
    line(`${paint.dim(readableDuration(performance.now() - startedAt).padStart(8))}  ${step}`);
  };
  await withCleanup(async (cleanup) => {
    const folder = await openFolder(options.data);
    cleanup.add(() => folder.remove());
    const owned = await ownDev(folder.path);
    cleanup.add(() => owned.release());
    onStep(`database in ${folder.path}`);
    // Bundling needs no database.
    const releases = folder.isFilled ? undefined : prepareReleases(join(folder.path, 'shop'));
    cleanup.add(async () => releases?.catch(() => {}));
    const { server, lost } = await startDatabaseAndServer(options, folder, { screen, stop }, cleanup);
    const { url, credentials } = server;
    const { personalAccessToken } = credentials ?? {};
    const secretKey = credentials?.environments.prod.secretKey;
    if (!credentials || !personalAccessToken || !secretKey)
      throw new CommandFailed(
        exitCodes.cannotStart,
        `The credentials of ${folder.path} are revoked. Choose a new folder with --data.`,
      );
    const services = await startServices();
    cleanup.add(() => services.close());
    configure({ baseURL: url, secretKey, retry: { maxAttempts: 3, minTimeoutInMs: 200 } });
    const shop: Shop = {
      url,
      projectRef: credentials.projectRef,
      personalAccessToken,
      secretKey,
      random: randomOf(options.seed),
      services,
      nextOrder: orderNumbers(folder.isFilled ? Math.floor(Date.now() / 1_000) : undefined),
    };

    const open = async (): Promise<Summary> => {
      let old: OldVersions | undefined;
      if (releases) {
        onStep('three releases of the shop, with variables, schedules and alerts');
        old = await setUp(shop, server, await releases);
      } else await setAddresses(shop);
      signal.throwIfAborted();
      const cache = { folder: join(folder.path, 'bundles') };
      const runner = startRunner({ url, secretKey, cache, concurrency: 40, signal });
      cleanup.add(async () => (await runner.catch(() => undefined))?.stop({ waitMs: 1_000 }));
      await runner;
      if (old) {
        await fill(shop, old, onStep);
        onStep('waiting for the runs of the shop to finish');
        await calm(options.once ? maxCalmMs.once : maxCalmMs.moving);
        await folder.filled();
      }
      return summarise(shop);
    };
    // The shop can be viewed while it is being filled.
    await owned.remember({ url, key: secretKey, token: personalAccessToken });
    onStep(`server at ${paint.cyan(url)}`);
    const opening = open();
    opening.catch(() => {});
    const summary = await Promise.race([opening, stop.requested, lost]);
    if (!summary) return;
    if (isJson) printJson({ ...credentialsJson(url, credentials), folder: folder.path, ...summary });
    else {
      const address = await dashboardAddress(url, credentials, {
        path: `/p/${credentials.projectRef}/prod`,
        loginCommand: `npx millrace open --dir ${folder.path}`,
      });
      const tookMs = performance.now() - startedAt;
      printReady(screen, { url, address, folder: folder.path, summary, tookMs });
    }
    const onProblem = (error: Error): void => line(`${paint.yellow('shop')}  ${error.message}`);
    const moving = options.once ? undefined : keepMoving(shop, options.rate, signal, onProblem);
    await Promise.race([stop.requested, lost]);
    stopping.abort();
    await moving;
  });
}

const openFolder = (path: string | undefined): Promise<DemoFolder> =>
  openDemoFolder(path).catch((error: Error) => {
    throw error.name === 'DemoFolderRefused'
      ? new CommandFailed(exitCodes.cannotStart, error.message)
      : error;
  });

interface Surroundings {
  readonly screen: Screen;
  readonly stop: StopRequest;
}

async function startDatabaseAndServer(
  { port, verbose = false }: DemoOptions,
  { path }: DemoFolder,
  { screen, stop }: Surroundings,
  cleanup: Cleanup,
): Promise<{ readonly server: RunningServer; readonly lost: Promise<never> }> {
  const errors = screenOn(process.stderr);
  const onLog = verbose ? (text: string) => errors.line(text) : undefined;
  const data = join(path, 'data');
  const { database, lost } = await embeddedDatabase(data, cleanup, { onLog });
  const server = await openServer({
    database,
    port,
    masterKey: await loadMasterKey({ file: join(data, 'master.key') }),
    // Warnings are expected in a shop with so many failures.
    log: verbose
      ? createLog({ write: (text) => errors.text(text.trimEnd()) })
      : createLog(printWarnings(screen, stop), 'error'),
    reveal: true,
    bootstrap: { settings: { projectName: 'Shop', secretKeys: {} } },
    notificationNetworks: ['127.0.0.0/8', '::1/128'],
  });
  cleanup.add(() => server.close());
  return { server, lost };
}

interface Ready {
  readonly url: string;
  /** The address of the dashboard. */
  readonly address: string;
  readonly folder: string;
  readonly summary: Summary;
  readonly tookMs: number;
}

function printReady({ line, paint }: Screen, { url, address, folder, summary, tookMs }: Ready): void {
  const { runs, errorGroups, schedules, sessions, waitingTokens } = summary.counts;
  line();
  line(`${paint.bold('Millrace')} ${version} at ${paint.cyan(url)}, ready after ${readableDuration(tookMs)}`);
  line(
    `  ${runs} runs, ${errorGroups} error groups, ${schedules} schedules, ${sessions} chats, ${waitingTokens} pending approvals`,
  );
  line(`The dashboard is at ${address}`);
  line('In another terminal:');
  line(`  npx millrace errors list --dir ${folder}`);
  line(`  npx millrace runs list --dir ${folder}`);
  line(`  npx millrace why ${summary.open['queuedRun']} --dir ${folder}`);
  line(paint.dim('The environment is prod. Orders keep arriving. Ctrl-C stops the shop.'));
}
