export * from './run-filter.ts';
export * from './words.ts';
