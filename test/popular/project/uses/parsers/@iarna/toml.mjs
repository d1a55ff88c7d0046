import toml from '@iarna/toml';

export default async () => toml.parse('[a]\nb = 1');
