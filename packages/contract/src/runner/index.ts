export * from './manifest.ts';
export * from './messages.ts';
