import fastGlob from 'fast-glob';

export default async () => (await fastGlob('*', { cwd: '/', onlyDirectories: true })).includes('tmp');
