export { BundleCache } from './cache.ts';
export { CannotServe, DiskFull } from './errors.ts';
export { platformHere } from './platform.ts';
export { BundleSource } from './source.ts';
