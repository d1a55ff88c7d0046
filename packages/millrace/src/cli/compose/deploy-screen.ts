import { readableDuration, readableSize } from '@millrace/contract/plain';
import type { Prepared } from '../../deploy/prepare.ts';
import type { UploadProgress } from '../../deploy/upload.ts';
import { screenOn, table, type Screen } from '../screen.ts';

/** The result of a deployment. */
export interface Deployed {
  readonly id: string;
  readonly version: string;
  /** False if the same content was deployed before. */
  readonly isNew: boolean;
  readonly isCurrent: boolean;
  /** The previously current version; null if there was none, or if nothing changed. */
  readonly replaced: string | null;
  /** The reason why it is not current: not requested, a newer one is current, or no runner has loaded it. */
  readonly reason?: string;
  /** In a preview branch: the tasks whose declared schedules do not fire in it. */
  readonly schedulesOff: readonly string[];
  readonly files: number;
  readonly sentBytes: number;
  /** Milliseconds of the build, and of the steps after it. */
  readonly buildMs: number;
  readonly deployMs: number;
  /** Its page in the dashboard. */
  readonly dashboardUrl: string | undefined;
}

const stepMs = 100;

/** Shows the progress of an upload in one line of a terminal that is overwritten. */
export function uploadScreen(): {
  readonly show: (progress: UploadProgress) => void;
  readonly end: () => void;
} {
  const { raw } = screenOn(process.stderr);
  let shownAt = 0;
  let isShown = false;
  return {
    show({ sentBytes, totalBytes }) {
      if (!process.stderr.isTTY || performance.now() - shownAt < stepMs) return;
      shownAt = performance.now();
      isShown = true;
      raw(`\r\u001b[KUploading ${readableSize(sentBytes)} of ${readableSize(totalBytes)}`);
    },
    end() {
      if (isShown) raw('\r\u001b[K');
    },
  };
}

/** Prints the result of a deployment. */
export function printDeployment(
  {
    version,
    isNew,
    isCurrent,
    replaced,
    reason,
    schedulesOff,
    files,
    sentBytes,
    buildMs,
    deployMs,
    dashboardUrl,
  }: Deployed,
  { line, paint }: Screen,
): void {
  line(
    isNew
      ? `Uploaded ${files} files (${readableSize(sentBytes)}) as version ${paint.bold(version)}.`
      : `The same content is already deployed as version ${paint.bold(version)}${sentBytes > 0 ? `, and its upload is complete now (${readableSize(sentBytes)})` : ', and nothing was uploaded'}.`,
  );
  if (isCurrent)
    line(
      `${paint.green(version)} is current${replaced === null ? '' : `. Runs that started on ${replaced} finish there`}.`,
    );
  else line(`It is not current: ${reason ?? ''}`.replace(/[.]?$/, '.'));
  if (schedulesOff.length > 0)
    line(
      `Declared schedules are off in this branch: ${schedulesOff.join(', ')}. Turn them on with --schedules.`,
    );
  line(paint.dim(`Built in ${readableDuration(buildMs)}, deployed in ${readableDuration(deployMs)}.`));
  if (dashboardUrl !== undefined) line(paint.dim(`Dashboard: ${dashboardUrl}`));
}

const shownPackages = 20;

/** Prints the contents of a deployment without deploying. */
export function printContents(prepared: Prepared, screen: Screen): void {
  const { bundle, tasks, layers, bytesByPackage } = prepared;
  const { line, paint } = screen;
  const head = (text: string): void => line(paint.bold(text));
  const sum = (sizes: readonly { readonly blobSize: number }[]): number =>
    sizes.reduce((total, { blobSize }) => total + blobSize, 0);
  head(`${tasks.length} ${tasks.length === 1 ? 'task' : 'tasks'}, for Node.js ${bundle.nodeMajor} or later`);
  line(tasks.map(({ id }) => id).join(', '));
  line();
  head(`${bundle.files.length} files, ${readableSize(sum(bundle.files))} compressed`);
  const files = [['file', 'size', 'compressed']];
  for (const { path, size, blobSize } of bundle.files)
    files.push([path, readableSize(size), readableSize(blobSize)]);
  for (const row of table(files)) line(row);
  line();
  const packages = [...bytesByPackage].filter(([name]) => name !== '').toSorted(([, a], [, b]) => b - a);
  head(`${packages.length} packages are bundled`);
  for (const row of table(packages.slice(0, shownPackages).map(([name, size]) => [name, readableSize(size)])))
    line(row);
  if (packages.length > shownPackages) line(paint.dim(`and ${packages.length - shownPackages} smaller ones`));
  for (const layer of layers) {
    line();
    head(
      `Layer for ${layer.platform}: ${layer.packages.length} packages, ${readableSize(layer.blobSize)} compressed`,
    );
    line(layer.packages.join(', '));
  }
  if (prepared.externals.length > 0) {
    line();
    head(`${prepared.externals.length} packages are not bundled`);
    for (const row of table(prepared.externals.map(({ name, why }) => [name, why]))) line(row);
  }
  warnAboutScripts(prepared, screen);
  warnAboutFiles(prepared, screen);
  noteMissingSchemas(prepared, screen);
}

const shownTasks = 5;

/** A task with a schema is deployed without its JSON Schema if there is none, or if it is too large. */
export function noteMissingSchemas({ tasks }: Prepared, { line, paint }: Screen): void {
  const without = tasks.filter(({ payloadSchemaNote }) => payloadSchemaNote !== undefined);
  const [first] = without;
  if (!first) return;
  const more = without.length > shownTasks ? `, and ${without.length - shownTasks} more` : '';
  const names = without.slice(0, shownTasks).map(({ id }) => id);
  line(
    paint.dim(
      `Tasks without a JSON Schema of the payload: ${names.join(', ')}${more}. For ${first.id}: ${first.payloadSchemaNote ?? ''}.`,
    ),
  );
}

/** An install script that is neither allowed nor known to be unnecessary may have been needed. */
export function warnAboutScripts({ withoutScript }: Prepared, { line, paint }: Screen): void {
  if (withoutScript.length === 0) return;
  line(
    `${paint.yellow('warning')} Install scripts of packages in the layer are not executed: ${withoutScript.join(', ')}. List each in allowScripts of package.json, with true or false.`,
  );
}

const shownExternals = 10;

/** Packages that are installed in the layer instead of bundled, in one line. */
export function noteExternals({ externals }: Prepared, { line, paint }: Screen): void {
  if (externals.length === 0) return;
  const names = externals.slice(0, shownExternals).map(({ name }) => name);
  const more = externals.length > shownExternals ? `, and ${externals.length - shownExternals} more` : '';
  line(paint.dim(`Installed without bundling: ${names.join(', ')}${more}. --dry-run shows the reasons.`));
}

/** Files that bundled code may not find. */
export function warnAboutFiles({ warnings }: Prepared, { line, paint }: Screen): void {
  for (const warning of warnings) line(`${paint.yellow('warning')} ${warning}`);
}
