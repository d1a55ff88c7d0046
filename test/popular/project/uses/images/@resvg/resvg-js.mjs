import { Resvg } from '@resvg/resvg-js';

export default async () => {
  const svg =
    '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="2"><rect width="4" height="2"/></svg>';
  const image = new Resvg(svg).render();
  return [image.width, image.height];
};
