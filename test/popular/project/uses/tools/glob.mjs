import { glob } from 'glob';

export default async () => (await glob('*', { cwd: '/' })).includes('tmp');
