import { transformAsync } from '@babel/core';

/** Babel loads presets by name. */
export default async () => {
  const { code } = await transformAsync('const a = () => 1;', {
    babelrc: false,
    configFile: false,
    presets: [['@babel/preset-env', { targets: 'ie 11' }]],
  });
  return code;
};
