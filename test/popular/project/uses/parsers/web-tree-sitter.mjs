import { Parser } from 'web-tree-sitter';

/** The parser is a `.wasm` file of the package. */
export default async () => {
  await Parser.init();
  return new Parser().getLogger();
};
