import { transformAsync } from '@babel/core';

/** Presets are named, and Babel loads them. */
export default async () => {
  const { code } = await transformAsync('const a = () => 1;', {
    babelrc: false,
    configFile: false,
    presets: [['@babel/preset-env', { targets: 'ie 11' }]],
  });
  return code;
};
