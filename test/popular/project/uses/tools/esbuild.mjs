import { transform } from 'esbuild';

export default async () => (await transform('const a: number = 1', { loader: 'ts' })).code;
