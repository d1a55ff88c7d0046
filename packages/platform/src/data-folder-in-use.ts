/** Another process owns this data folder. Two servers on the same folder would corrupt it. */
export class DataFolderInUse extends Error {
  readonly folder: string;
  readonly pid: number;

  constructor(folder: string, pid: number) {
    super(
      `The data folder ${folder} is in use by process ${pid}. Stop that process, or choose another folder with --data.`,
    );
    this.name = 'DataFolderInUse';
    this.folder = folder;
    this.pid = pid;
  }
}
