import type { Check } from '@millrace/server';

/** Input for checks of this machine. */
export interface MachineInput {
  /** Node.js version, without a `v`. */
  readonly nodeVersion: string;
  /** Folders whose disks are checked. */
  readonly folders: readonly string[];
  /** The address of a future server; undefined if none will be started here. */
  readonly listen: { readonly host: string; readonly port: number } | undefined;
  /** The data folder of an embedded database. */
  readonly data: string | undefined;
  /** The folder of its backups, and the maximum age of the newest; undefined if unknown. */
  readonly backups?: { readonly folder: string; readonly maxAgeMs: number } | undefined;
  /** The clock of this machine, in milliseconds since 1970. */
  readonly wallClock: () => number;
  /** Sizes of the file system of a folder. */
  readonly measure: (folder: string) => Promise<DiskUse>;
}

export interface DiskUse {
  readonly bytes: number;
  readonly freeBytes: number;
  /** 0 if the file system does not count them. */
  readonly inodes: number;
  readonly freeInodes: number;
}

export type MachineCheck = Check<MachineInput>;
