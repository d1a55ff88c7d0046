import { SourceMapConsumer } from 'source-map';

/** Its decoder is a `.wasm` file of the package. */
export default async () =>
  SourceMapConsumer.with({ version: 3, sources: ['a'], names: [], mappings: 'AAAA' }, null, (map) =>
    map.originalPositionFor({ line: 1, column: 0 }),
  );
