export * from './run-filter.ts';
export * from './run-filter-params.ts';
export * from './words.ts';
