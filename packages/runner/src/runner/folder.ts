import type { ProcessEnvironment } from '../executor/messages.ts';
import type { SpawnOptions } from '../executor/spawn.ts';
import type { RunnerEvents } from './options.ts';
import type { ServedBuild } from './served-build.ts';

/**
 * A folder with the code of a project. The runner serves its versions. It does not build them, so that a runner of deployed versions needs
 * no bundler: the command passes an implementation that does.
 */
export interface Folder {
  /** Absolute. Its processes work there. */
  readonly dir: string;
  readonly open: (runner: FolderOptions) => ServedFolder;
}

/** The runner that serves a folder. */
export interface FolderOptions {
  readonly url: string;
  readonly secretKey: string;
  /** A branch of the key's environment. */
  readonly branch?: string | undefined;
  readonly ids: SpawnOptions['ids'];
  readonly events: RunnerEvents;
  /** The current `process.env` of the task files. */
  readonly env: () => ProcessEnvironment;
  /** Versions that attempts or processes of this runner use. */
  readonly inUse: () => ReadonlySet<string>;
  readonly onRegistered: (version: string) => void;
}

/** The versions of a folder. */
export interface ServedFolder {
  /** Oldest first. */
  readonly names: readonly string[];
  /** Of the last build. */
  readonly hadProblems: boolean;
  readonly build: (version: string) => ServedBuild | undefined;
  /** Finds the versions that earlier runners of this environment built, and registers the present one. */
  readonly start: (environment: string) => Promise<void>;
  /** Builds after a change. A broken project is reported, and the last version stays in service. */
  readonly redeploy: () => Promise<void>;
  /** Ends what follows changes of the folder. */
  readonly close: () => Promise<void>;
}
