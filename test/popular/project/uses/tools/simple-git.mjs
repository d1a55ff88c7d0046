import { simpleGit } from 'simple-git';

export default async () => (await simpleGit('/tmp').version()).installed;
