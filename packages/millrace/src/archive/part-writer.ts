import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Writable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { digestOf } from './digest.ts';
import { recordKinds, type ArchivedFile, type ArchivePart, type RecordKind } from './manifest.ts';
import type { ArchiveStore } from './store.ts';

interface OpenFile {
  readonly name: string;
  readonly path: string;
  readonly input: Writable;
  readonly written: Promise<void>;
  records: number;
}

/** Writes the records of one part to files in a temporary folder, and then moves the files to the store. */
export class PartWriter {
  readonly #folder: string;
  readonly #prefix: string;
  readonly #gzip: boolean;
  readonly #files = new Map<RecordKind, OpenFile>();
  /** Characters written so far, before compression. */
  characters = 0;

  constructor(folder: string, { number, gzip }: { readonly number: number; readonly gzip: boolean }) {
    this.#folder = folder;
    this.#prefix = String(number).padStart(6, '0');
    this.#gzip = gzip;
  }

  get runs(): number {
    return this.#files.get('runs')?.records ?? 0;
  }

  async write(kind: RecordKind, records: readonly object[]): Promise<void> {
    if (records.length === 0) return;
    const file = this.#files.get(kind) ?? this.#open(kind);
    for (const record of records) {
      const line = `${JSON.stringify(record)}\n`;
      this.characters += line.length;
      file.records += 1;
      // A full disk ends the wait as well.
      if (!file.input.write(line)) await Promise.race([once(file.input, 'drain'), file.written]);
    }
  }

  #open(kind: RecordKind): OpenFile {
    const name = `${this.#prefix}.${kind}.ndjson${this.#gzip ? '.gz' : ''}`;
    const path = join(this.#folder, name);
    const output = createWriteStream(path);
    const input = this.#gzip ? createGzip() : output;
    if (input !== output) input.pipe(output);
    const written = finished(output);
    // Reported by `store`, or by the next write.
    written.catch(() => {});
    const file: OpenFile = { name, path, input, written, records: 0 };
    this.#files.set(kind, file);
    return file;
  }

  /** Moves the files to the store. */
  async store(store: ArchiveStore): Promise<ArchivePart> {
    const files: ArchivedFile[] = [];
    for (const kind of recordKinds) {
      const file = this.#files.get(kind);
      if (!file) continue;
      file.input.end();
      await file.written;
      const { size, sha256 } = await digestOf(file.path);
      await store.put(file.name, file.path, size, sha256);
      await rm(file.path);
      files.push({ name: file.name, kind, records: file.records, bytes: size, sha256 });
    }
    return { runs: this.runs, files };
  }
}
