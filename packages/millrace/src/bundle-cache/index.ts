export { BundleCache } from './cache.ts';
export { CannotServe } from './errors.ts';
export { platformHere } from './platform.ts';
export { BundleSource } from './source.ts';
