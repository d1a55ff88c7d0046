import { PNG } from 'pngjs';

export default async () => {
  const { width, height } = PNG.sync.read(PNG.sync.write(new PNG({ width: 3, height: 2 })));
  return [width, height];
};
