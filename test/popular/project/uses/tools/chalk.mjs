import { Chalk } from 'chalk';

export default async () => new Chalk({ level: 1 }).red('hello');
