import sharp from 'sharp';

export default async () => {
  const image = sharp({ create: { width: 8, height: 4, channels: 3, background: 'red' } });
  const { width, height, format } = await sharp(await image.resize(4).png().toBuffer()).metadata();
  return [width, height, format];
};
