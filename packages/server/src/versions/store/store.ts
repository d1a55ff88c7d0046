/** A place for verified blobs outside the database. Keys are below the prefix of the store. */
export interface BlobStore {
  /** A readable name: `s3://bucket/prefix`. */
  readonly name: string;
  /** Stores this many bytes, whose SHA-256 is `digest`. A store that supports checksums rejects other bytes. */
  put(key: string, size: number, digest: string, bytes: AsyncIterable<Buffer>): Promise<void>;
  /** Resolves when the store has begun to respond. A store rejects an object that has another size. */
  read(key: string, start: number, size?: number): Promise<AsyncIterable<Buffer>>;
  has(key: string): Promise<boolean>;
  /** Deleting a missing object has no effect. */
  delete(key: string): Promise<void>;
}

/** The store cannot be used with its configuration. The message contains the reason and the fix; the server does not start. */
export class StoreRefused extends Error {
  override name = 'StoreRefused';
}

/** The store is unavailable, or did not execute the request. */
export class StoreFailed extends Error {
  override name = 'StoreFailed';
}
