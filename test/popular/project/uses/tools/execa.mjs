import { execa } from 'execa';

export default async () => (await execa('echo', ['hello'])).stdout;
