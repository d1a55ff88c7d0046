import { createCanvas } from '@napi-rs/canvas';

export default async () => {
  const canvas = createCanvas(10, 10);
  canvas.getContext('2d').fillRect(0, 0, 5, 5);
  return (await canvas.encode('png')).subarray(1, 4).toString('latin1');
};
