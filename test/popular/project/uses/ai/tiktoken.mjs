import { get_encoding } from 'tiktoken';

/** The encoder is a `.wasm` file of the package. */
export default async () => {
  const encoding = get_encoding('cl100k_base');
  const tokens = [...encoding.encode('Hello world')];
  encoding.free();
  return tokens;
};
