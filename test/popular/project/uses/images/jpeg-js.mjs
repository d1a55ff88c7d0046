import jpeg from 'jpeg-js';

export default async () => {
  const { data } = jpeg.encode({ width: 2, height: 2, data: Buffer.alloc(16) }, 50);
  return jpeg.decode(data).width;
};
