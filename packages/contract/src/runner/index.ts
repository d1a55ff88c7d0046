export * from './brief.ts';
export * from './manifest.ts';
export * from './messages.ts';
