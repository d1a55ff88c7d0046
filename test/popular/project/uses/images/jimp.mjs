import { Jimp } from 'jimp';

export default async () => {
  const image = new Jimp({ width: 8, height: 4, color: 0xff0000ff });
  const again = await Jimp.read(await image.resize({ w: 4 }).getBuffer('image/png'));
  return [again.width, again.height];
};
