import { createRequire } from 'node:module';
import { PrismaPg } from '@prisma/adapter-pg';
import { getPrismaClient } from '@prisma/client/runtime/client';
import type { PoolConfig } from 'pg';

const require = createRequire(import.meta.url);
const { version } = require('@prisma/client/package.json') as { readonly version: string };
const compiler = 'query_compiler_fast_bg.postgresql';

// The types of Node declare the name, but no values in it.
const { WebAssembly } = globalThis as unknown as {
  readonly WebAssembly: { readonly Module: new (bytes: Uint8Array) => object };
};

/** The methods of a Prisma client that the tests use. */
export interface PrismaClient {
  $transaction<T>(act: (tx: PrismaTransactionClient) => Promise<T>): Promise<T>;
  $disconnect(): Promise<void>;
}
export interface PrismaTransactionClient {
  $queryRawUnsafe<T = unknown>(text: string, ...values: unknown[]): Promise<T>;
  $executeRawUnsafe(text: string): Promise<number>;
}

/**
 * A Prisma client for a schema without models. It is created like in the code that `prisma generate` writes: the command itself needs a
 * program that no npm package has.
 */
export function prismaClient(pool: PoolConfig): PrismaClient {
  // The package does not export the compilers; generated code contains copies of them.
  const runtime = new URL('.', import.meta.resolve('@prisma/client/runtime/client'));
  const Client = getPrismaClient({
    previewFeatures: [],
    clientVersion: version,
    engineVersion: version,
    activeProvider: 'postgresql',
    inlineSchema: 'datasource db {\n  provider = "postgresql"\n}\n',
    runtimeDataModel: { models: {}, enums: {}, types: {} },
    parameterizationSchema: { strings: [], graph: 'AAAA' },
    compilerWasm: {
      getRuntime: async () => import(new URL(`${compiler}.mjs`, runtime).href) as never,
      async getQueryCompilerWasmModule() {
        const { wasm } = (await import(new URL(`${compiler}.wasm-base64.mjs`, runtime).href)) as {
          readonly wasm: string;
        };
        return new WebAssembly.Module(Buffer.from(wasm, 'base64'));
      },
      importName: './query_compiler_fast_bg.js',
    },
  } as never) as unknown as new (options: { readonly adapter: PrismaPg }) => PrismaClient;
  return new Client({ adapter: new PrismaPg(pool) });
}
