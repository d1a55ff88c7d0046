import type { Check } from '@millrace/server';

/** What checks of this machine are given. */
export interface MachineFacts {
  /** Of Node, without a `v`. */
  readonly nodeVersion: string;
  /** Folders whose disks are needed. */
  readonly folders: readonly string[];
  /** Where a server will listen; undefined if none is to be started here. */
  readonly listen: { readonly host: string; readonly port: number } | undefined;
  /** The data folder of an embedded database. */
  readonly data: string | undefined;
  /** Where its backups are, and how old the newest may be; undefined if nobody says where. */
  readonly backups?: { readonly folder: string; readonly maxAgeMs: number } | undefined;
  /** The clock of this machine, in milliseconds since 1970. */
  readonly wallClock: () => number;
  /** Sizes of the file system of a folder. */
  readonly measure: (folder: string) => Promise<DiskUse>;
}

export interface DiskUse {
  readonly bytes: number;
  readonly freeBytes: number;
  /** 0 where the file system does not count them. */
  readonly inodes: number;
  readonly freeInodes: number;
}

export type MachineCheck = Check<MachineFacts>;
