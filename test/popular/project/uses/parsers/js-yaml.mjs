import * as yaml from 'js-yaml';

export default async () => yaml.load('a: [1, 2]');
