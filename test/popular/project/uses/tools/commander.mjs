import { Command } from 'commander';

export default async () => new Command().option('--a <b>').parse(['--a', 'c'], { from: 'user' }).opts();
