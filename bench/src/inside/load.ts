/** Modules that benchmark processes load by a system's name, so that none loads another's library. */
export const loadPeer = (name: string) => {
  if (name === 'graphile') return import('./graphile.ts');
  if (name === 'pgboss') return import('./pgboss.ts');
  if (name === 'bullmq') return import('./bullmq.ts');
  throw new Error(`unknown peer ${name}`);
};

export const loadClient = (name: string) => (name === 'millrace' ? import('./millrace.ts') : loadPeer(name));
