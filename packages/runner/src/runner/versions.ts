import type { ServedBuild } from './served-build.ts';
import type { FetchedVersions } from './fetched-versions.ts';
import type { ServedFolder } from './options.ts';

/** The versions that this runner can execute now: those of its folder, and fetched ones. */
export class Versions {
  readonly folder: ServedFolder | undefined;
  readonly fetched: FetchedVersions | undefined;

  constructor(folder: ServedFolder | undefined, fetched: FetchedVersions | undefined) {
    this.folder = folder;
    this.fetched = fetched;
  }

  get names(): string[] {
    return [...new Set([...(this.folder?.names ?? []), ...(this.fetched?.names ?? [])])];
  }

  build(version: string): ServedBuild | undefined {
    return this.folder?.build(version) ?? this.fetched?.build(version);
  }

  /** Versions for which a process is kept ready. */
  get warm(): string[] {
    const newest = this.folder?.names.at(-1);
    return [...(newest === undefined ? [] : [newest]), ...(this.fetched?.warm ?? [])];
  }
}
