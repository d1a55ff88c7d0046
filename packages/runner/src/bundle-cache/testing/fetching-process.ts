/** Opens a version in a cache, reports that, and keeps running. Arguments: folder, limit, address, key, version. */
import { BundleCache } from '../cache.ts';
import { BundleSource } from '../source.ts';

const [folder = '', limit = '', url = '', secretKey = '', version = ''] = process.argv.slice(2);
const source = new BundleSource({ url, secretKey, signal: new AbortController().signal });
const bundle = await source.bundle(version);
console.log(await new BundleCache(folder, Number(limit)).open(source, bundle, bundle.layers[0]));
setInterval(() => undefined, 1_000);
